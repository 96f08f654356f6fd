"""From decoys to graphs (`chunks`), and from a data set to the tables and packs of later steps."""
