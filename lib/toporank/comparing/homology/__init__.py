"""Which targets are alike: chains compared by the k-mers they share, clusters, splits that keep
clusters together.
"""
