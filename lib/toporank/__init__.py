"""TopoRank: rank the decoys of protein complexes by predicted DockQ."""

__version__ = "0.1.0"
