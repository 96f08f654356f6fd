"""A quick look into a structure file: its models and the sequences of their protein chains."""

from __future__ import annotations

from typing import NamedTuple

from toporank.chains.chain import ChainSequences
from toporank.chains.immune import Pair

Modified = tuple[str, int, str]
"""A modified residue: its chain, its place in the sequence from 0, and its name, such as SEP."""


class Sketch(NamedTuple):
    """What a structure file holds.

    Attributes
    ----------
    models : the number of each model as the file has it; a file without MODEL records has one
        model, number 1
    chains : of the first model
    further : of each further model, if one of them has other chains; none where they cannot be read
    content : SHA-256 of the file, where it is known
    shapes : of each model, as from `model_shape.shape_of`; empty where it cannot be used
    notes : which of its chains are several molecules, or may be, a sentence each
    pairs : chains of the first model that belong together, and of each of the further ones, if
        there are any
    modified : residues of the first model that are another amino acid than their letter, and of
        each of the further ones, if there are any
    experiment : how the structure was measured, where the file says that it was
    entry : its name in a database, where the file has one
    bends : whether its chains have other shapes in other models
    is_noise : whether most neighbours in its chains are not bonded
    other : what a whole file is that is no structure; empty for a structure
    b_factors : of each model, the length of each chain and the runs of its B factors, as `runs_of`
        has them
    size : of the file, in bytes
    """

    models: tuple[int, ...]
    chains: ChainSequences
    further: tuple[ChainSequences, ...] = ()
    content: str = ""
    shapes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    pairs: tuple[tuple[Pair, ...], ...] = ()
    modified: tuple[tuple[Modified, ...], ...] = ()
    experiment: str = ""
    entry: str = ""
    bends: bool = False
    other: str = ""
    b_factors: tuple[tuple[tuple[int, ...], ...], ...] = ()
    size: int = 0
    is_noise: bool = False

    @property
    def decoys(self) -> tuple[int, ...]:
        """The places of its models that are decoys, from 1.

        0 for the only one, and for the first of an ensemble of a single chain, which is no
        complex.
        """
        if len(self.models) < 2 or len(self.chains) < 2:
            return (0,)
        return tuple(range(1, len(self.models) + 1))

    def of_model(self, place: int) -> ChainSequences:
        """The chains of a model. place : in the file, from 1; 0 for the only one."""
        return self.further[place - 2] if place > 1 and self.further else self.chains

    def shape_of_model(self, place: int) -> str:
        """What two models have in common that are copies. place : as for `of_model`."""
        return self.shapes[max(place, 1) - 1] if self.shapes else ""

    def b_factors_of(self, place: int) -> tuple[tuple[int, ...], ...]:
        """Length and runs of the chains of a model. place : as for `of_model`."""
        return self.b_factors[max(place, 1) - 1] if self.b_factors else ()

    def pairs_of_model(self, place: int) -> tuple[Pair, ...]:
        """The chains of a model that belong together. place : as for `of_model`."""
        return self._of_place(self.pairs, place)

    def modified_of_model(self, place: int) -> tuple[Modified, ...]:
        """The modified residues of a model. place : as for `of_model`."""
        return self._of_place(self.modified, place)

    def _of_place(self, of_models: tuple[tuple, ...], place: int) -> tuple:
        if not of_models:
            return ()
        return of_models[place - 1] if place > 1 and self.further else of_models[0]
