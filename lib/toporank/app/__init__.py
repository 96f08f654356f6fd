"""What a person runs: commands, the Python API, the configuration, and what the rules of the
workflow need.
"""
