"""Finding models: files of a folder, what is in each, and the targets that they are models of."""
