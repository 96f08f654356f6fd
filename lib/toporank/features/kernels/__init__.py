"""Loops of the feature modules, compiled.

Importing a file of this folder imports numba: do so when computing.
"""
