"""What the Snakefile needs.

It checks before any job, gives rules their inputs and parameters, locks, and shows progress.
"""
