"""DockQ of a decoy against its native: chains, alignment, mapping, scores.

Pure functions on `Complex`.
"""
