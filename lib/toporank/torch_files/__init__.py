"""Files of `torch.save`, graphs and checkpoints, read without torch and without running anything of them."""
