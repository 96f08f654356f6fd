"""Sequences that tell complexes apart: a modified residue has a letter of its own."""

from __future__ import annotations

import string
from collections.abc import Mapping
from typing import TYPE_CHECKING

from toporank.structures.identity import Decoy

if TYPE_CHECKING:
    from toporank.chains.chain import ChainSequences
    from toporank.finding.sketch import Modified, Sketch

SequenceOfChain = Mapping[str, str]
"""Name → sequence."""
NO_SEQUENCES: SequenceOfChain = {}
Sketches = Mapping[str, "Sketch | None"]
"""What a look into each file found, by path; None where it cannot be read."""
OF_MODIFIED = string.ascii_lowercase + string.digits + "!#$%&()*+,-./:;<=>?@[]^_{|}~"
"""Letters of modified residues, one for each name; names beyond these share the last."""


class Sequences:
    """The sequences of the chains of decoys, with a letter of its own for each modification.

    Parameters
    ----------
    sketches : of all files of a data set
    """

    def __init__(self, sketches: Sketches):
        self._sketches = sketches
        self._chains: dict[
            tuple[ChainSequences, tuple[Modified, ...]], SequenceOfChain
        ] = {}
        self._places: dict[tuple[int, int], SequenceOfChain] = {}
        names: set[str] = set()
        for sketch in sketches.values():
            for model in sketch.models if sketch else ():
                if model.modified:
                    names.update(name for _, _, name in model.modified)
        self._letters = {}
        for place, name in enumerate(sorted(names)):
            self._letters[name] = OF_MODIFIED[min(place, len(OF_MODIFIED) - 1)]

    def of(self, decoy: Decoy) -> SequenceOfChain:
        """Name → sequence of the chains of a decoy; none where it cannot be read.

        Decoys with the same chains have one object.
        """
        sketch = self._sketches.get(decoy.path)
        if sketch is None:
            return NO_SEQUENCES
        model = sketch.of_model(decoy.model)
        seen = model.chains, model.modified
        # most sketches share what they have in common; to compare it takes longer
        place = id(seen[0]), id(seen[1])
        if place not in self._places:
            if seen not in self._chains:
                self._chains[seen] = self._read(*seen)
            self._places[place] = self._chains[seen]
        return self._places[place]

    def _read(
        self, seen: ChainSequences, modified: tuple[Modified, ...]
    ) -> SequenceOfChain:
        chains = dict(seen)
        for chain, place, name in modified:
            sequence = chains[chain]
            chains[chain] = (
                sequence[:place] + self._letters[name] + sequence[place + 1 :]
            )
        return chains
