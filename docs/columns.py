"""Writes the columns of all tables into docs/results.md: PYTHONPATH=lib python docs/columns.py"""

from __future__ import annotations

from pathlib import Path

from toporank.tables.columns import TABLES
from toporank.tables.frames import to_markdown

PAGE = Path(__file__).with_name("results.md")
BEGIN, END = "<!-- columns: made by docs/columns.py -->\n", "<!-- end of columns -->\n"


def with_columns(text: str) -> str:
    """The page with the columns as they are declared."""
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n{to_markdown(TABLES)}\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(with_columns(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
