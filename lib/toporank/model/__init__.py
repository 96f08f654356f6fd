"""The network, its training wrapper and its checkpoints."""
