"""Many decoys through the feature stages.

It has plans, jobs, the reuse store, ledgers and published artefacts.
"""
