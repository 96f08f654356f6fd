"""The table of what predictors write, `data/predictor_files.yaml`."""

from __future__ import annotations

from pathlib import Path

import yaml

FILES = yaml.safe_load(
    (Path(__file__).parent / "data/predictor_files.yaml").read_text()
)
