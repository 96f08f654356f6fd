"""The report: one self-contained HTML page of a study or of a scored data set."""
