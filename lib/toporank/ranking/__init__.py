"""A scored data set as tables.

They are ranking, interfaces, residues, targets that training knew, and metrics against labels.
"""
