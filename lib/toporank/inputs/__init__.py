"""What a user brings: decoys and their targets, labels, natives, and what predictors say
(`confidence`).
"""
