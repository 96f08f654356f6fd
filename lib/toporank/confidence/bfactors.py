"""pLDDT where predictors put it, in the column of B factors.

The numbers decide, whatever the file is called and says of itself. pLDDT is high, rises into the
core, and falls to the ends of side chains; B factors of crystals do the opposite. What the file,
its name and the files beside it say counts where the numbers leave it open.
"""

from __future__ import annotations

import contextlib
import functools
import json
import re
from typing import NamedTuple

import gemmi
import numpy as np

from toporank.chains.chain import ResidueId
from toporank.confidence.b_factor_runs import runs_of
from toporank.confidence.table import ALWAYS, NEVER, PlddtChoice
from toporank.metrics import spearman
from toporank.programs.catalogue import docked_by, is_docked
from toporank.programs.program import Terms
from toporank.structures.complex import Complex
from toporank.structures.model_residue import ModelResidue
from toporank.structures.neighbours import pairs_between_groups
from toporank.structures.read import StructureFile
from toporank.structures.write import QUALITY

MEASURED = re.compile(
    r"^(EXPDTA(?!.*THEORETICAL)|REMARK   2 RESOLUTION\.\s+\d)", re.MULTILINE
)
"""Lines of a PDB file that models of predictors rarely have."""
CLEAR = 0.2
"""`evidence` above which numbers are pLDDT, and below whose negative they are none. Over 1,277
models of AlphaFold and Boltz it is -0.17 or more, in 99 % of them 0.46; over 1,190 crystal
structures 0.01 or less, and over these models with 100 - pLDDT -0.36 or less in 99 %.
"""
SMOOTH = 0.5
"""Smallest correlation of neighbours in a chain; over those models it is 0.73 or more."""
ROUGH = 0.3
"""The same of a file that says that it has pLDDT."""
SURE = 50.0
"""A model is surer than this of some residue; of those models, 85 or more."""
LEAST = 30.0
"""A model whose file says that it has pLDDT is surer than this of some residue."""
FEWEST = 30
"""Residues by which this can be judged."""
STEP = 10.0
"""Between the different values of a model, in the mean: those of pLDDT are closer."""
MOST_ALIKE = 10
"""Residues of a chain that may all have one value; of those models, none of 5 has."""
NEAR = 10.0
"""Å between CA atoms of neighbours in space."""
BACKBONE = ("N", "CA", "C")
NEAR_BACKBONE = (*BACKBONE, "O", "CB", "OXT")
ROUNDING = 1.0
"""Difference of two pLDDT that are the same but for rounding, such as 0.97 and 97.4."""
MOST_UNLIKE = 0.1
"""Largest share of residues that differ by more where two lists are the same."""
OF_A_MONOMER = (
    "the B factors of a chain are those of this chain in other complexes or places, so they are "
    "the pLDDT of a monomer that was docked, and TopoRank does not use them"
)
LIKE_MASK = "they have a few different values, as a mask or colours have"
ONE_VALUE = "they have one value in all of chain {}, as where nothing is known of it"
LIKE_CRYSTAL = (
    "they are low and high where pLDDT is not, as B factors of a crystal or errors are"
)
TOO_LOW = "none of them is above {:g}, where predictors are surer of some residue"
NOT_SMOOTH = "they change from residue to residue more than pLDDT does"
OF_TOPORANK = (
    "TopoRank wrote this file: its B factors are predicted quality, not pLDDT (score the "
    "predictor's own model)"
)
BEFORE_TITLES = """\
data_
_entity.id
_entity.type
_entity_poly.entity_id
_entity_poly.type
_entity_poly.pdbx_strand_id
_entity_poly.pdbx_seq_one_letter_code
_struct_asym.id
_struct_asym.entity_id
"""
"""What TopoRank's own models had before their atoms when they had no title."""


class BFactors(NamedTuple):
    """B factors that may be pLDDT.

    Attributes
    ----------
    of_residues : mean over the heavy atoms of each amino acid, 0 to 100
    declared : whether the file calls them pLDDT
    measured : whether it names an experiment
    in_cell : whether it has the cell of a crystal
    docked : whether a docking program wrote it: they can be pLDDT of the partners only
    falling : share of residues whose side chain ends lower than the backbone, less the share where
        it ends higher
    fault : why no user can mean that they are pLDDT; empty where they may be
    other_metric : what the file says against them
    """

    of_residues: dict[ResidueId, float]
    declared: bool
    measured: bool
    in_cell: bool = False
    docked: bool = False
    falling: float = 0.0
    fault: str = ""
    other_metric: str = ""

    def of(self, complex_: Complex) -> np.ndarray:
        """Return the B factor of each residue of a complex, shape (R,).

        NaN for residues that the file lacks.
        """
        values = [
            self.of_residues.get(residue, np.nan) for residue in complex_.residues
        ]
        return np.array(values, dtype=float)


class Judged(NamedTuple):
    """What the numbers of a model say.

    are_plddt : None where the numbers leave it open. evidence : as `evidence` returns it. reason :
    why they are none.
    """

    are_plddt: bool | None
    evidence: float | None = None
    reason: str = ""


def b_factors(file: StructureFile, model: int | None = None) -> BFactors | None:
    """Return the B factors of a structure file that can be read.

    None if they are all alike. Amino acids decide: ions and ligands may have anything. An atom
    with 0 beside others that have more was added since.

    Parameters
    ----------
    model : its place in the file, from 0, if there are several
    """
    if file.block is None and _all_alike(file.text):
        return None
    residues: list[ModelResidue] = []
    of_all: list[float] = []
    sizes: list[int] = []
    for residue in file.parsed(model).residues:
        heavy = [atom.b_iso for atom in residue.residue if not atom.is_hydrogen()]
        of_atoms = [value for value in heavy if value] or heavy
        if residue.parent and of_atoms:
            residues.append(residue)
            of_all += of_atoms
            sizes.append(len(of_atoms))
    if not of_all or not min(of_all) < max(of_all):
        return None
    values = np.array(of_all)
    scale = 100.0 if values.min() >= 0 and values.max() <= 1 else 1.0
    values *= scale
    starts = np.cumsum([0, *sizes[:-1]])
    means = np.add.reduceat(values, starts) / sizes
    lowest = np.minimum.reduceat(values, starts)
    highest = np.maximum.reduceat(values, starts)
    ids = [ResidueId(each.chain, each.number, each.code) for each in residues]
    fault = other_metric = ""
    if not (values.min() >= 0 and values.max() <= 100):
        fault = f"they go from {values.min():g} to {values.max():g}"
    elif file.block is not None:
        number = str(file.model_numbers[model or 0])
        other_metric = _other_metric(file.block, number, residues, lowest, highest)
    declared, measured, docked = _labels(file)
    return BFactors(
        of_residues=dict(zip(ids, means.tolist(), strict=True)),
        declared=declared,
        measured=measured,
        in_cell=file.is_crystal,
        docked=docked,
        falling=_falling(residues) if (lowest < highest).any() else 0.0,
        fault=fault,
        other_metric=other_metric,
    )


def _labels(file: StructureFile) -> tuple[bool, bool, bool]:
    """Whether a file calls B factors pLDDT, names an experiment, and a docking program."""
    if file.block is None:
        return False, *_lines_of(file.text)
    metrics = [*file.block.find_values("_ma_qa_metric.name")]
    metrics += file.block.find_values("_ma_qa_metric.type")
    declared = "plddt" in " ".join(metrics).lower()
    methods = "".join(file.block.find_values("_exptl.method")).upper()
    return declared, methods.strip(".?") != "" and "MODEL" not in methods, False


def _falling(residues: list[ModelResidue]) -> float:
    """As `BFactors.falling`."""
    signs = []
    for residue in residues:
        of_backbone = []
        of_end = []
        for atom in residue.residue:
            if atom.name in BACKBONE:
                of_backbone.append(atom.b_iso)
            elif atom.name not in NEAR_BACKBONE and not atom.is_hydrogen():
                of_end.append(atom.b_iso)
        if of_backbone and of_end:
            signs.append(np.sign(np.mean(of_backbone) - np.mean(of_end)))
    return float(np.mean(signs)) if signs else 0.0


def _other_metric(
    block: gemmi.cif.Block,
    number: str,
    residues: list[ModelResidue],
    lowest: np.ndarray,
    highest: np.ndarray,
) -> str:
    """Say that `_ma_qa_metric_local` has other pLDDT than the B factors; empty where it has not.

    number : of the model in the file. lowest, highest : B factors of the atoms of each residue, 0
    to 100. Some programs write the mean of a residue into the table, others the value of its CA.
    """
    metrics: dict[str, str] = {}
    for column in ("name", "type"):
        for row in block.find("_ma_qa_metric.", ["id", column]):
            metrics[row[0]] = metrics.get(row[0], "") + row[1].lower()
    columns = ["model_id", "label_asym_id", "label_seq_id", "metric_id", "metric_value"]
    stated = {}
    for model_id, chain, place, metric, value in block.find(
        "_ma_qa_metric_local.", columns
    ):
        if model_id == number and "plddt" in metrics.get(metric, "plddt"):
            with contextlib.suppress(ValueError):
                stated[chain, place] = float(value)
    keys = [(each.residue.subchain, str(each.residue.label_seq)) for each in residues]
    places = [i for i, key in enumerate(keys) if key in stated]
    if not places:
        return ""
    of_table = np.array([stated[keys[i]] for i in places])
    if of_table.min() >= 0 and of_table.max() <= 1:
        of_table *= 100
    outside = (of_table < lowest[places] - ROUNDING) | (
        of_table > highest[places] + ROUNDING
    )
    if not outside.mean() > MOST_UNLIKE:
        return ""
    return (
        f"_ma_qa_metric_local has another pLDDT for {outside.mean():.0%} of the residues, "
        "and TopoRank uses neither"
    )


@functools.lru_cache(maxsize=1)
def written_by_toporank(text: str, file_format: str) -> bool:
    """Return whether TopoRank wrote the file.

    Then its B factors are the quality of residues that it predicted.
    """
    if file_format == "pdb":
        return (
            re.search(rf"^TITLE.*{QUALITY}", text, re.MULTILINE | re.IGNORECASE)
            is not None
        )
    before = text.partition("_atom_site.")[0].splitlines()
    return (
        QUALITY in text
        or [line for line in before if line.startswith(("_", "data_"))]
        == BEFORE_TITLES.split()
    )


@functools.lru_cache(maxsize=1)  # of a file, whichever of its models is looked at
def _lines_of(text: str) -> tuple[bool, bool]:
    """Whether a PDB file names an experiment, and a docking program."""
    return MEASURED.search(text) is not None, is_docked(text)


@functools.lru_cache(maxsize=1)
def _all_alike(text: str) -> bool:
    """Whether all atoms of a PDB file have one B factor.

    That is so in most docked poses, and needs no parsing.
    """
    values = set()
    for line in text.splitlines():
        if line.startswith(("ATOM", "HETATM")):
            values.add(line[60:66])
    return len(values) < 2


def judge(
    b_factors: BFactors | None,
    complex_: Complex | None,
    *,
    told: bool,
    choice: PlddtChoice,
) -> Judged:
    """Say whether B factors are pLDDT, by the first that decides.

    The user does, then a docking program or numbers that are none, then a table in the file, and
    then what the numbers look like.

    Parameters
    ----------
    told : whether the file, its name or files beside it say that they are
    choice : what the user says
    """
    if b_factors is None or complex_ is None or choice == NEVER:
        return Judged(are_plddt=False)
    if b_factors.docked and choice != ALWAYS:
        return Judged(are_plddt=False)
    if b_factors.fault:
        return Judged(are_plddt=False, reason=b_factors.fault)
    if choice == ALWAYS:
        return Judged(are_plddt=True)
    if b_factors.other_metric:
        return Judged(are_plddt=False, reason=b_factors.other_metric)
    of_all = b_factors.of(complex_)
    residues = np.flatnonzero((complex_.ca >= 0) & ~np.isnan(of_all))
    values = of_all[residues]
    if len(residues) < FEWEST or not np.ptp(values):
        is_other = b_factors.measured or b_factors.in_cell
        return Judged(are_plddt=told and not is_other)
    chain_of = complex_.chain_of[residues]
    reason = _unlike(values, chain_of)
    if reason:
        return Judged(are_plddt=False, reason=reason)
    steps = np.diff(values)[chain_of[1:] == chain_of[:-1]]
    smooth = 1 - np.square(steps).mean() / (2 * values.var()) if len(steps) else 0.0
    if smooth < ROUGH:
        return Judged(are_plddt=False, reason=NOT_SMOOTH)
    found = evidence(values, complex_.xyz[complex_.ca[residues]], b_factors.falling)
    if found < -CLEAR:
        return Judged(are_plddt=False, evidence=found, reason=LIKE_CRYSTAL)
    is_typical = smooth >= SMOOTH and values.max() >= SURE
    if is_typical and found > CLEAR:
        return Judged(are_plddt=True, evidence=found)
    if b_factors.measured or not (told or is_typical):
        return Judged(are_plddt=False, evidence=found)
    return Judged(are_plddt=True if told else None, evidence=found)


def _unlike(values: np.ndarray, chain_of: np.ndarray) -> str:
    """Say why no predictor gives residues such values; empty where one may.

    values, chain_of : of residues, shape (R,)
    """
    if np.ptp(values) >= STEP * (len(np.unique(values.round(1))) - 1):
        return LIKE_MASK
    if values.max() < LEAST:
        return TOO_LOW.format(values.max())
    for chain in dict.fromkeys(chain_of.tolist()):
        of_chain = values[chain_of == chain]
        if len(of_chain) > MOST_ALIKE and not np.ptp(of_chain):
            return ONE_VALUE.format(chain)
    return ""


def evidence(values: np.ndarray, ca: np.ndarray, falling: float) -> float:
    """Return how much numbers are like pLDDT: above 0 for pLDDT, below for B factors of crystals.

    It is Spearman's correlation with the number of a residue's neighbours in space, and half of
    how far the median is above 50 and how often side chains end lower than the backbone, both from
    -1 to 1.

    Parameters
    ----------
    values : of residues, 0 to 100, shape (R,)
    ca : of these residues, Å, shape (R, 3)
    falling : as in `BFactors`
    """
    near, _ = pairs_between_groups(ca.astype(float), np.arange(len(ca)), NEAR)
    neighbours = np.bincount(near.ravel(), minlength=len(ca))
    rise = spearman(neighbours, values) if np.ptp(neighbours) else 0.0
    level = (float(np.median(values)) - 50) / 50
    return rise + (level + falling) / 2


def profiles(b_factors: BFactors, complex_: Complex) -> dict[str, dict[int, int]]:
    """Return the runs of the numbers of each chain with CA atoms, by its name (`runs_of`)."""
    values = np.nan_to_num(b_factors.of(complex_))
    has_ca = complex_.ca >= 0
    found = {}
    for chain in dict.fromkeys(complex_.chain_of[has_ca].tolist()):
        of_chain = values[has_ca & (complex_.chain_of == chain)]
        found[chain] = runs_of(of_chain)
    return found


class InFile(NamedTuple):
    """What is in the file of a model, kept beside its atoms, so that the file is read once.

    Attributes
    ----------
    by_toporank : whether TopoRank wrote the file
    docked_by : name of the docking program that wrote it, or nothing
    terms : of its score, by the header
    b_factors : that may be pLDDT
    """

    by_toporank: bool
    docked_by: str
    terms: Terms
    b_factors: BFactors | None

    @classmethod
    def of(cls, file: StructureFile, model: int | None = None) -> InFile:
        """From an opened file. model : its place in the file, from 0, if there are several.

        Raises StructureError when the model cannot be parsed.
        """
        docked = docked_by(file.text) if file.format == "pdb" else None
        return cls(
            by_toporank=written_by_toporank(file.text, file.format),
            docked_by=docked[0].name if docked else "",
            terms=docked[1] if docked else {},
            b_factors=b_factors(file, model),
        )

    def to_bytes(self) -> bytes:
        """As JSON."""
        fields = self._asdict()
        if self.b_factors:
            fields["b_factors"] = self.b_factors._asdict()
            fields["b_factors"]["of_residues"] = [*self.b_factors.of_residues.items()]
        return json.dumps(fields).encode()

    @classmethod
    def from_bytes(cls, content: bytes) -> InFile:
        """The inverse of `to_bytes`."""
        fields = json.loads(content)
        values = fields["b_factors"]
        if not values:
            return cls(**fields)
        of_residues = {}
        for residue, value in values["of_residues"]:
            of_residues[ResidueId(*residue)] = value
        values["of_residues"] = of_residues
        return cls(**fields | {"b_factors": BFactors(**values)})
