"""What a person runs.

Commands, the Python API, the configuration, and what the rules of the workflow need.
"""
