"""What all sections of the configuration are made of."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field


def _plain_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", name):
        raise ValueError("a name is made of letters, digits, '_', '.' and '-' and becomes part of paths")
    return name


def _text(name: Any) -> Any:
    return str(name) if isinstance(name, int) and not isinstance(name, bool) else name


Seed = Annotated[int, Field(ge=0, lt=2**32)]
"""What every random number generator in use takes."""

Name = Annotated[str, BeforeValidator(_text), AfterValidator(_plain_name)]
"""A name that becomes part of paths. YAML reads `1234` as a number; it is a name here."""


class Section(BaseModel):
    """Base of all sections: unknown keys are errors, values do not change."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def distinct(names: list[str], what: str) -> None:
    """Refuse names that are used more than once."""
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"{what} used more than once: {', '.join(twice)}")
