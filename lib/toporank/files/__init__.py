"""How bytes lie in files: tables, graphs, archives.

Files are whole or not there. Nothing here knows proteins.
"""
