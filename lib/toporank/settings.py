"""What people set: sections of keys, and errors they can act on.

These have path, value, what is allowed, near spellings.
"""

from __future__ import annotations

import datetime
import difflib
import json
import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, ClassVar, TypeVar, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from toporank.errors import ConfigError

AnySection = TypeVar("AnySection", bound=BaseModel)

LARGEST_NETWORK = {"hidden": 4096, "heads": 256, "layers": 128, "readout": 65536}
"""Largest network, in configurations and in checkpoints from elsewhere: far beyond anything useful.
"""

LONGEST = 80
"""Characters of a wrong value that a message shows."""
LARGEST_FILE, LONGEST_FAULT = 2**22, 300
"""Bytes of a file that `read_section` reads at most, and characters of what is wrong with it that a
message shows.
"""


def did_you_mean(word: str, words: Iterable[str]) -> str:
    """A remedy: the nearest known spelling, or all known words."""
    words = sorted(words)
    near = difflib.get_close_matches(word, words, n=1, cutoff=0.6)
    return f"did you mean {near[0]!r}?" if near else f"known: {', '.join(words)}"


def path_of(value: Any, argument: str) -> Path:
    """Return the path that somebody gave as an argument of this name.

    >>> path_of(5, "out")
    Traceback (most recent call last):
    toporank.errors.ConfigError: out: 5 is no path (give a text or a pathlib.Path)
    """
    try:
        return Path(value)
    except TypeError as error:
        remedy = "give a text or a pathlib.Path"
        raise ConfigError(
            f"{value!r} is no path", where=argument, remedy=remedy
        ) from error


def check_argument(value: Any, kind: type | UnionType, argument: str) -> None:
    """Raise ConfigError where an argument is not of this type, or is below 1.

    >>> check_argument("two", int, "workers")
    Traceback (most recent call last):
    toporank.errors.ConfigError: workers: 'two' is not allowed (give a whole number from 1)
    """
    if not isinstance(value, kind) or (isinstance(value, int) and value < 1):
        is_number = int in (kind, *get_args(kind))
        remedy = "give a whole number from 1" if is_number else "give a text"
        what = f"{value!r} is not allowed"
        raise ConfigError(what, where=argument, remedy=remedy)


def checked(
    model: type[AnySection], values: dict[str, Any], *, where: str
) -> AnySection:
    """Build `model` from `values`, or raise one ConfigError that lists every fault."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise ConfigError("\n  ".join(_faults(model, error, where))) from error


def read_section(model: type[AnySection], path: Path) -> AnySection:
    """Read a JSON file that TopoRank wrote.

    Raises ValueError, of one line, when it is damaged or something else.
    """
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise ValueError(f"more than {LARGEST_FILE:,} bytes")
        return checked(
            model, json.loads(path.read_text(encoding="utf-8")), where=path.name
        )
    except (OSError, ValueError, RecursionError, ConfigError) as error:
        raise ValueError(
            textwrap.shorten(str(error), LONGEST_FAULT, placeholder=" …")
        ) from error


def faults_of(model: type[BaseModel], values: Any, *, where: str) -> list[str]:
    """What is wrong with `values` as a `model`: a line for each fault, none if nothing is."""
    try:
        model.model_validate(values)
    except ValidationError as error:
        return _faults(model, error, where)
    return []


def _faults(model: type[BaseModel], error: ValidationError, where: str) -> list[str]:
    return [_fault(model, fault, where) for fault in error.errors(include_url=False)]


def _fault(model: type[BaseModel], fault: Mapping[str, Any], where: str) -> str:
    """One line for one fault of pydantic's list."""
    path = [part for part in fault["loc"] if part != "__root__"]
    key = _dotted(where, path)
    if fault["type"] == "extra_forbidden":
        owner = _owner(model, path[:-1])
        former = getattr(owner, "FORMER", {}).get(path[-1])
        remedy = former or did_you_mean(
            str(path[-1]), owner.model_fields if owner else ()
        )
        return f"{key}: unknown key ({remedy})"
    if fault["type"] == "missing":
        return f"{key}: required, but not given"
    text = f"{key}: {fault['msg'].removeprefix('Value error, ')}".removeprefix(": ")
    if isinstance(fault["input"], dict | list):
        return text
    return f"{text} (got {_shown(fault['input'])})"


def _shown(value: Any) -> str:
    """A value as it would be typed, of a readable length."""
    text = (
        ascii(value)
        if isinstance(value, str) and not value.isprintable()
        else repr(value)
    )
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def _dotted(where: str, path: list[str | int]) -> str:
    """`features.topology`, ["sweep", 0, "name"] → `features.topology.sweep[0].name`."""
    text = where
    for part in path:
        text += (
            f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
        )
    return text


def _owner(
    model: type[BaseModel] | None, path: list[str | int]
) -> type[BaseModel] | None:
    """The model class that holds the key at the end of `path`, if there is one."""
    for part in path:
        if isinstance(part, int) or model is None:
            continue
        field = model.model_fields.get(part)
        if field is None:
            continue
        model = None
        for leaf in _leaves(field.annotation):
            if isinstance(leaf, type) and issubclass(leaf, BaseModel):
                model = leaf
    return model


def _leaves(annotation: Any) -> Iterator[Any]:
    """All types inside a type annotation such as `list[A] | None`."""
    parts = get_args(annotation)
    if not parts:
        yield annotation
    for part in parts:
        yield from _leaves(part)


def _plain_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", name):
        raise ValueError(
            "a name is made of letters, digits, '_', '.' and '-' and becomes part of paths"
        )
    return name


READ_AS = {
    bool: "true or false",
    int: "a number",
    float: "a number",
    datetime.date: "a date",
}
"""Types that YAML and Snakemake make of names: 1_2 becomes 12, 1E10 becomes 1e10, 010 becomes 8."""
QUOTE_IT = (
    "{} was read as {}, so the name that was meant is not known: put it in quotes, or on the "
    "command line in brackets, such as only=[1_2] or score_decoys=./1E10"
)


def _wants_text(annotation: Any) -> bool:
    """Whether a key takes text and no number."""
    leaves = list(_leaves(annotation))
    return str in leaves and not any(number in leaves for number in (int, float, bool))


Seed = Annotated[int, Field(ge=0, lt=2**32)]
"""What every random number generator in use takes."""

Name = Annotated[str, AfterValidator(_plain_name)]
"""A name that becomes part of paths."""


class Section(BaseModel):
    """Base of all sections: unknown keys are errors, values do not change."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    FORMER: ClassVar[dict[str, str]] = {}
    """Keys of earlier versions, and what to do instead."""

    @field_validator("*", mode="before")
    @classmethod
    def _text_is_no_number(cls, value: Any, info: ValidationInfo) -> Any:
        """Refuse a number where a name is wanted: nobody knows which name was written."""
        if not _wants_text(cls.model_fields[str(info.field_name)].annotation):
            return value
        for part in value if isinstance(value, list) else [value]:
            for kind, name in READ_AS.items():
                if isinstance(part, kind):
                    raise ValueError(QUOTE_IT.format(part, name))
        return value


def distinct(names: list[str], what: str) -> None:
    """Refuse names that are used more than once."""
    twice = sorted(name for name, n in Counter(names).items() if n > 1)
    if twice:
        raise ValueError(f"{what} used more than once: {', '.join(twice)}")
