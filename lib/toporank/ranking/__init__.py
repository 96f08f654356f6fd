"""A scored data set as tables.

Ranking, interfaces, residues, targets that training knew, metrics against labels.
"""
