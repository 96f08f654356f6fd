"""Compiled loops of the features: persistent homology, DSSP, and distances between atoms.

Functions of arrays, which know nothing of complexes, tables or files. Importing a module of this
package imports numba: do so when computing.
"""
