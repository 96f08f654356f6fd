"""Decoys become graphs (`chunks`), a data set becomes the tables and packs that everything after
the features reads.
"""
