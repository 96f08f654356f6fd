"""The confidence of predictors in their models: pLDDT, pTM, ipTM, PAE and what follows from it.

docs/confidence.md describes it.
"""
