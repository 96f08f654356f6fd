"""Keys that a YAML file gives twice: of these the values have the last alone."""

from __future__ import annotations

from typing import Any

import yaml


def repeated_keys(text: str) -> list[str]:
    r"""Which keys a mapping of a YAML or JSON text has more than once, a line for each.

    YAML forbids it, and what reads it takes the last without a word. Keys that `<<` merges may be
    given again.

    Examples
    --------
    >>> (line,) = repeated_keys("seeds: [1]\nfolds: 3\nseeds: [2]")
    >>> line.partition(", and")[0]
    'seeds: given twice, in lines 1 and 3'
    """
    lines: list[str] = []
    nodes = [("", yaml.compose(text, Loader=yaml.SafeLoader))]
    seen = set()
    while nodes:
        path, node = nodes.pop()
        if node is None or id(node) in seen:  # an anchor that is used again
            continue
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            nodes += [(f"{path}[{i}]", item) for i, item in enumerate(node.value)]
        elif isinstance(node, yaml.MappingNode):
            of_mapping, inner = _repeated_in(path, node)
            lines += of_mapping
            nodes += inner
    return sorted(lines)


def _repeated_in(path: str, node: Any) -> tuple[list[str], list[tuple[str, Any]]]:
    """The keys that a mapping repeats, and the path and node of each of its values."""
    places: dict[str, list[int]] = {}
    inner = []
    for key, value in node.value:
        name = str(key.value)
        where = f"{path}.{name}" if path else name
        inner.append((where, value))
        if name != "<<":
            places.setdefault(where, []).append(key.start_mark.line + 1)
    lines = []
    for where, numbers in places.items():
        if len(numbers) > 1:
            *first, last = map(str, numbers)
            often = "twice" if len(numbers) == 2 else f"{len(numbers)} times"
            lines.append(
                f"{where}: given {often}, in lines {', '.join(first)} and {last}, and only the "
                "last would count (merge them, or remove one)"
            )
    return lines, inner
