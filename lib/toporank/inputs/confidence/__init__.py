"""What the predictor itself says of its models: pLDDT, pTM, ipTM, PAE and what follows from it;
docs/confidence.md.
"""
