"""What a program is: how it names its files, and what reads them.

A reader takes the files beside a model and puts what they say into a `PredictorOutput`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from toporank.errors import ConfidenceError
from toporank.programs.values import Values, number, plddt, square

RANGES = {"ptm": (0.0, 1.0), "iptm": (0.0, 1.0), "ranking_score": (-101.0, 101.0)}
"""What single numbers can be. AlphaFold 3 takes 100 from the ranking score of a model that clashes;
AlphaFold 2 ranks models without ipTM by pLDDT.
"""
MEASURED = ("ptm", "iptm", "pair_iptm", "ranking_score", "plddt", "atom_plddt", "pae")
"""A file that was read gives at least one of these fields."""
Terms = dict[str, float | None]
"""Column of confidence.csv → a term of a docking program's score; None where not known."""


class SideFiles(NamedTuple):
    """The files that a predictor wrote beside a model. None where there is none.

    Attributes
    ----------
    predictor : its name
    folder : in which the files lie
    names : the groups of the name of the model's file, and `stem`: all of it, without ending
    scores, pae, plddt : the files
    """

    predictor: str
    folder: Path
    names: dict[str, str]
    scores: Path | None = None
    pae: Path | None = None
    plddt: Path | None = None


class SideFileNames(NamedTuple):
    """One way in which a program names the files of a model; a program may have several.

    Attributes
    ----------
    model : pattern that the file name of a model, without its ending, must match as a whole
    scores, pae, plddt : names of the files beside it, best first. `{group}` is a named group of
        `model`, `{stem}` the whole name. A file that has everything is listed under `scores`.
    needs_scores : whether a model is of this program only where a file of `scores` exists
    """

    model: re.Pattern[str]
    scores: tuple[str, ...] = ()
    pae: tuple[str, ...] = ()
    plddt: tuple[str, ...] = ()
    needs_scores: bool = False


@dataclass
class PredictorOutput:
    """A predictor's confidence in a model; None where it says nothing.

    Attributes
    ----------
    ptm, iptm : from 0 to 1
    pair_iptm : ipTM of each pair of chains, shape (C, C); nan where unknown
    pair_chains : the names of these chains; without, they are those of the model in its order
    ranking_score : by which the predictor ranks its models, higher is better
    plddt : of each residue or other token, 0 to 100, shape (T,)
    atom_plddt : of each atom, 0 to 100, shape (A,)
    plddt_file : the name of the file that has pLDDT
    pae : Å, shape (T, T)
    contact_probs : probability that two tokens touch, shape (T, T)
    token_chains, token_numbers : the name of the chain and the residue number of each token
    atom_chains : the name of the chain of each atom
    problems : files that could not be used, and why
    """

    ptm: float | None = None
    iptm: float | None = None
    pair_iptm: np.ndarray | None = None
    pair_chains: list[str] | None = None
    ranking_score: float | None = None
    plddt: np.ndarray | None = None
    atom_plddt: np.ndarray | None = None
    plddt_file: str = ""
    pae: np.ndarray | None = None
    contact_probs: np.ndarray | None = None
    token_chains: list[str] | None = None
    token_numbers: list[int] | None = None
    atom_chains: list[str] | None = None
    problems: list[str] = field(default_factory=list)

    def put(self, name: str, read: Callable[..., Any], *arguments: Any) -> None:
        """Set a field to what a function reads, if it is there.

        What cannot be used becomes a problem.
        """
        try:
            value = read(*arguments)
        except ConfidenceError as error:
            self.add_problem(error)
            return
        if value is not None:
            setattr(self, name, value)

    def put_numbers(self, values: Values, **keys: str) -> None:
        """Set pTM, ipTM or ranking score from a file.

        keys : field → key in the file, such as `ptm="ptm_score"`.
        """
        for field_name, key in keys.items():
            self.put(field_name, number, values, key, *RANGES[field_name])

    def put_plddt(
        self, values: Values, path: Path | None, key: str, field_name: str = "plddt"
    ) -> None:
        """Set pLDDT from values of a file, if they have this key.

        A list from 0 to 1 becomes 0 to 100.

        Parameters
        ----------
        field_name : `plddt` or `atom_plddt`
        """
        if path is not None and key in values:
            self.plddt_file = path.name
            self.put(field_name, plddt, values, key)

    def put_pae(self, values: Values, name: str) -> None:
        """Set PAE from values of a file, if they have this name."""
        if name in values:
            self.put("pae", square, values, name)

    def add_problem(self, error: ConfidenceError) -> None:
        """Remember once that something could not be used."""
        if error.reason not in self.problems:
            self.problems.append(error.reason)


Reader = Callable[[SideFiles, PredictorOutput], None]
"""Puts what files say into the output. Raises ConfidenceError for a file that cannot be used at
all.
"""


class DockingOutput(NamedTuple):
    """How a docking program says what its score is made of.

    Attributes
    ----------
    of_header : the terms in the text of a PDB file; None where the program did not write it
    is_docked : whether a line of the text names the program, wherever it stands
    completed : the terms of a header with those of the tables beside a model, by its path, and what
        is wrong with these tables, or nothing
    last_step : the last step of a run that has models, by the folder of the run and the names in
        it, as a path below it; None where the folder is no run
    """

    of_header: Callable[[str], Terms | None]
    is_docked: Callable[[str], bool]
    completed: Callable[[Terms, Path], tuple[Terms, str]]
    last_step: Callable[[Path, Iterable[str]], str | None]


class Program(NamedTuple):
    """A program that makes models: everything that TopoRank knows of it.

    Attributes
    ----------
    name : of the program
    model : pattern that the path of a model, without its ending, must match as a whole; None where
        only files beside the model tell
    files : how it names the files beside a model, special ways first
    readers : of these files, run in this order; a later one overwrites an earlier one
    called : pattern of what people call its files for short, in small letters
    query : pattern of the name of a model, its first group the query: all queries of a run lie in
        one folder
    job : pattern of the file of a model, its first group the job, which may lie beside others
    writes : pattern of names of files and folders by which its output is known
    given : pattern of names of folders with what it was given, where its output lies beside; a
        group `query` is the query
    samples : pattern of folders with samples of one target
    recycle : pattern of the name of a state on the way, with groups `model` and `number`
    trajectory : pattern of the name of a file with steps on the way
    unused : pattern of names of files, in small letters, that are left out on purpose
    same_values : pattern of files with what its other files have, too
    further : files in other folders that count for the models of a folder
    docking : of a docking program
    named_alone : whether no other program gives such names to its models
    ranks_by_iptm : whether its ranking score is 0.8 ipTM + 0.2 pTM
    named_like : whether others name models as this does: then files beside them go first
    proteins_only : whether its models have other chains only if these were added since
    shifts_plddt : whether B factors behind a modified residue are the pLDDT of other residues
    letters : whether it calls the chains of its models A, B and so on, in the order of its values
    """

    name: str
    model: re.Pattern[str] | None = None
    files: tuple[SideFileNames, ...] = ()
    readers: tuple[Reader, ...] = ()
    called: str = ""
    query: str = ""
    job: str = ""
    writes: str = ""
    given: str = ""
    samples: str = ""
    recycle: str = ""
    trajectory: str = ""
    unused: str = ""
    same_values: str = ""
    further: Callable[[Path], list[Path]] | None = None
    docking: DockingOutput | None = None
    named_alone: bool = False
    ranks_by_iptm: bool = False
    named_like: bool = False
    proteins_only: bool = False
    shifts_plddt: bool = False
    letters: bool = False
