"""A scorer: networks, trees, calibration and vectors in one folder, and what it makes of decoys."""
