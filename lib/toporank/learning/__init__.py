"""One network: batches, layers, losses, training, selection and checkpoints."""
