"""Loops of the network, compiled.

Importing a file of this folder imports numba: do so when computing.
"""
