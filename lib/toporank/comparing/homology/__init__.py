"""Which targets are alike.

Chains are compared by the k-mers they share; clusters and splits follow from that.
"""
