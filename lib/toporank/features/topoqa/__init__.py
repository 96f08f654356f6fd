"""What TopoQA, the published system, computes and we would do otherwise: its edges, and its whole configuration."""
