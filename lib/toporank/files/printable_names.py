"""Names that tables and files can have."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Container

LONGEST_NAME = 240
"""Bytes of a decoy's or target's name: file systems allow 255 for `<decoy>.csv`, and some room is
left.
"""
DecoyKey = tuple[str, str]
"""Target and decoy."""


def name_problem(name: str, of: str = "file") -> str:
    r"""Why neither a table nor an artefact can have this name, and what to do; `""` if both can.

    >>> name_problem("model_1"), name_problem("model\t1")
    ('', 'the name of the file holds a character that cannot be printed (rename it)')
    """
    if not name.isprintable():
        return (
            f"the name of the {of} holds a character that cannot be printed (rename it)"
        )
    length = len(name)
    if length > LONGEST_NAME // 4:  # letters of up to four bytes
        length = len(os.fsencode(name))
    if length <= LONGEST_NAME:
        return ""
    limit = f"at most {LONGEST_NAME} are possible (shorten it)"
    return f"the name of the {of} is {length} bytes long, {limit}"


def table_name(name: str) -> str:
    r"""The name as tables and files show it.

    It is itself, or made printable and short, with a digest that tells it apart.

    >>> table_name("model_1"), table_name("model\t1")
    ('model_1', 'model_1~b44ab327')
    """
    if not name_problem(name):
        return name
    digest = "~" + hashlib.sha256(os.fsencode(name)).hexdigest()[:8]
    shown = "".join(letter if letter.isprintable() else "_" for letter in name)
    return shown.encode()[: LONGEST_NAME - len(digest)].decode(errors="ignore") + digest


def free_name(
    name: str, taken: Container[str], numbers: dict[str, int] | None = None
) -> str:
    """The name, or the first of `name_2`, `name_3` … that is not taken.

    numbers : name → the last number that was tried, kept from call to call: of many equal names
        none is then tried again

    >>> free_name("A", {"A", "A_2"})
    'A_3'
    """
    numbers = {} if numbers is None else numbers
    free = name
    while free in taken:
        numbers[name] = numbers.get(name, 1) + 1
        free = f"{name}_{numbers[name]}"
    return free
