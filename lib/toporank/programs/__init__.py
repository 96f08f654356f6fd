"""The programs whose models TopoRank reads, a file each; `catalogue` asks them all."""
