"""Files of `torch.save`, graphs and checkpoints, read without torch and without running code from them."""
