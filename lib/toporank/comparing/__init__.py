"""Decoys among themselves.

It knows the contacts they share, clusters, consensus, and decoys that are nearly the same.
"""
