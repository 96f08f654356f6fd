"""One prediction from what networks say of a decoy, its whole interface, and how it stands among the others."""
