"""The errors a user can meet. Each says what is wrong, where, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence


def printable(text: str) -> str:
    r"""The text on one line: white space becomes one blank, other unprintable characters `_`.

    >>> printable("a\tb\x1b")
    'a b_'
    """
    return "".join(
        letter if letter.isprintable() else "_" for letter in " ".join(text.split())
    )


def first_of(names: Sequence[str], most: int) -> str:
    """The first of some names, and how many there are besides, in words.

    >>> first_of(["T", "U", "V"], 1), first_of(["T"], 1)
    ('T and 2 more', 'T')
    """
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


class TopoRankError(Exception):
    """Base of all errors raised on purpose.

    `what` is one sentence; `where` a file, key or residue; `remedy` what the reader can do next;
    `facts` about the decoy that hold all the same.
    """

    def __init__(
        self,
        what: str,
        *,
        where: object = None,
        remedy: str | None = None,
        facts: dict[str, object] | None = None,
    ):
        self.what, self.where, self.remedy, self.facts = (
            what,
            where,
            remedy,
            facts or {},
        )
        prefix = f"{where}: " if where is not None else ""
        suffix = f" ({remedy})" if remedy else ""
        super().__init__(f"{prefix}{what}{suffix}")

    @property
    def reason(self) -> str:
        """`what` and `remedy` on one line of printable characters, without `where`.

        A status table says where.
        """
        return printable(f"{self.what} ({self.remedy})" if self.remedy else self.what)


class ConfigError(TopoRankError):
    """The configuration, a label table or the command line asks for something impossible."""


class StructureError(TopoRankError):
    """A decoy file cannot be read as a protein complex."""


class OverlapError(StructureError):
    """A chain lies inside another one."""


class OtherFileError(StructureError):
    """A file is whole, but holds no structure."""


class ChangedError(StructureError):
    """A decoy file is not the one that was read before."""


class IntermediateError(StructureError):
    """A file is a state that a program left on its way to a model."""


class ChainMissingError(TopoRankError):
    """The complex was read, but does not have all chains that its partners name."""


class NoInterfaceError(TopoRankError):
    """The complex was read, but no two of its partners touch."""


class FeatureError(TopoRankError):
    """A feature stage cannot compute its result for this complex."""


class DockingError(TopoRankError):
    """Decoys cannot be made of a native by docking its partners."""


class NativeError(TopoRankError):
    """A native cannot serve to label decoys."""


class LabelError(TopoRankError):
    """A decoy cannot be compared with its native."""


class OtherProteinError(LabelError):
    """A decoy is of another protein than its native."""


class ConfidenceError(TopoRankError):
    """A predictor's confidence in its model cannot be read, or is not of this model."""


class RecordError(TopoRankError):
    """A file in which the workflow keeps its records is damaged."""


class GraphError(TopoRankError):
    """A graph file or graph store is damaged or does not fit the others."""


class TrainingError(TopoRankError):
    """A training run cannot go on."""


class CheckpointError(TopoRankError):
    """A checkpoint cannot be used."""
