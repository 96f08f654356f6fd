"""A structure file becomes a `Complex`: reading, checking, naming, DSSP, neighbours."""
