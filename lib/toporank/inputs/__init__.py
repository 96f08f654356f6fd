"""What a user brings.

That is decoys and their targets, labels, natives, and what predictors say (`confidence`).
"""
