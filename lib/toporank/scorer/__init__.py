"""A scorer: networks and judge in one folder, and its prediction for decoys."""
