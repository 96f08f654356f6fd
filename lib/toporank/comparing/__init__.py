"""Decoys among themselves.

Contacts they share, clusters, consensus, and decoys that are nearly the same.
"""
