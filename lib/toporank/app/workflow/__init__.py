"""What the Snakefile needs.

Checks before any job, inputs and parameters of rules, locks, progress.
"""
