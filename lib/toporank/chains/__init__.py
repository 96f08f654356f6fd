"""Protein chains: which are the same, which residues of them are, and which are one partner."""
