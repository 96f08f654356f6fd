"""What a person runs.

It has the commands, the Python API, the configuration, and what the rules of the workflow need.
"""
