"""Complex in, arrays out: the pure functions of the four feature stages and their registry."""
