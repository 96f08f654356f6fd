"""A scored data set as tables: ranking, interfaces, residues, targets that training knew, metrics
against labels.
"""
