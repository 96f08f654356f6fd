"""Labelled decoys from natives: docked, and chosen so that size and clashes do not tell DockQ.

This package imports from toporank, which does not need it.
"""
