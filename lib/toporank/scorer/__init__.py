"""A scorer: networks, judge and training vectors in one folder, and its prediction for decoys."""
