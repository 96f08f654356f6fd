"""A quick look into a structure file: its models and the sequences of their protein chains."""

from __future__ import annotations

from typing import NamedTuple

from toporank.chains.chain import ChainSequences
from toporank.chains.immune import Pair

Modified = tuple[str, int, str]
"""A modified residue: its chain, its place in the sequence from 0, and its name, such as SEP."""


class ModelSketch(NamedTuple):
    """What one model of a file holds.

    Attributes
    ----------
    chains : its protein chains; none where they cannot be read
    pairs : chains that belong together
    modified : residues that are another amino acid than their letter
    shape : what it has in common with its copies, as from `model_shape.shape_of`; empty where it
        cannot be used
    b_factors : the length of each chain and the runs of its B factors, as `runs_of` has them
    """

    chains: ChainSequences = ()
    pairs: tuple[Pair, ...] = ()
    modified: tuple[Modified, ...] = ()
    shape: str = ""
    b_factors: tuple[tuple[int, ...], ...] = ()


class Sketch(NamedTuple):
    """What a structure file holds.

    Attributes
    ----------
    numbers : of its models as the file has them; a file without MODEL records has one model,
        number 1
    models : what each of them holds
    content : SHA-256 of the file, where it is known
    size : of the file, in bytes
    notes : which of its chains are several molecules, or may be, a sentence each
    experiment : how the structure was measured, where the file says that it was
    entry : its name in a database, where the file has one
    bends : whether its chains have other shapes in other models
    is_noise : whether most neighbours in its chains are not bonded
    other : what a whole file is that is no structure; empty for a structure
    """

    numbers: tuple[int, ...] = (1,)
    models: tuple[ModelSketch, ...] = (ModelSketch(),)
    content: str = ""
    size: int = 0
    notes: tuple[str, ...] = ()
    experiment: str = ""
    entry: str = ""
    bends: bool = False
    is_noise: bool = False
    other: str = ""

    @property
    def first(self) -> ModelSketch:
        """Its first model."""
        return self.models[0]

    @property
    def decoys(self) -> tuple[int, ...]:
        """The places of its models that are decoys, from 1.

        0 for the only one, and for the first of an ensemble of a single chain, which is no
        complex.
        """
        if len(self.models) < 2 or len(self.first.chains) < 2:
            return (0,)
        return tuple(range(1, len(self.models) + 1))

    def of_model(self, place: int) -> ModelSketch:
        """What a model holds. place : in the file, from 1; 0 for the only one."""
        return self.models[place - 1 if place else 0]
