"""The confidence of predictors in their models: pLDDT, pTM, ipTM, PAE and what follows from it.

Docs/confidence.md.
"""
