"""Many decoys through the feature stages.

Plans, jobs, the reuse store, ledgers and published artefacts.
"""
