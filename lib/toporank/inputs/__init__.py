"""What a user brings.

Decoys and their targets, labels, natives, and what predictors say (`confidence`).
"""
