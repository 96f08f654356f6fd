"""What the Snakefile needs: checks before any job, inputs and parameters of rules, locks,
progress.
"""
