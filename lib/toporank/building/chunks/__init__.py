"""Many decoys through the feature stages: plans, jobs, the reuse store, ledgers and published
artefacts.
"""
