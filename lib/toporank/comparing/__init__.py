"""Decoys among themselves: contacts they share, clusters, consensus, and decoys that are nearly the
same.
"""
