"""How a test says that the library does not yet do what the test asks."""

from __future__ import annotations

import pytest


def known_defect(what: str, *, raises: type[BaseException] | tuple[type[BaseException], ...] = AssertionError):
    """Expect the failure until it is mended; a test that passes in spite of this mark fails, so the mark must go."""
    return pytest.mark.xfail(strict=True, raises=raises, reason=f"known defect: {what}")
