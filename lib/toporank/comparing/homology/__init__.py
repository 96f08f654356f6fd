"""Which targets are alike.

Chains compared by the k-mers they share, clusters, splits that keep clusters together.
"""
