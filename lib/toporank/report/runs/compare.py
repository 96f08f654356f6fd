"""Two runs side by side: a row for each target of either, and what makes the runs different as a whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from toporank.files.spreadsheets import table_text
from toporank.inputs.kinds import kinds_of
from toporank.report.answer import CLOSE
from toporank.report.formatting import counted, number
from toporank.report.runs.folder import Key, Run
from toporank.report.targets import TargetRow

BOTH, ONLY_A, ONLY_B = "both", "only_a", "only_b"
"""Status of a target: which runs have it."""
A, B, EITHER, NEITHER, UNCLEAR = "A", "B", "either", "neither", "unclear"
"""Which run to trust for a target."""
BETTER, HIGHER, SAME = ("a_better", "b_better"), ("a_higher", "b_higher"), "same"
"""Codes: the intervals are apart; they are not, or are unknown; less than `CLOSE` between the two."""
SCORED = ("only_a_scored", "only_b_scored", "none_scored")
VERDICT, CHAINS = "verdict", "chains"
"""Further codes: the verdicts differ; the runs have other sequences under this name."""
CHANGED = 1e-5
"""Predicted DockQ by which a score has changed: two machines may differ by less (docs/scoring.md)."""
SHOWN_DIGEST = 8
"""Letters of a SHA-256 that people see."""
Kinds = tuple[tuple[int, int], ...]
"""Kinds of chains by number, and how many chains there are of each."""
OF_TARGETS = (
    *("n_models", "n_scored", "best", "dockq", "pred_low", "pred_high", "p_acceptable", "pred_dockq"),
    *("pred_structure", "pred_confidence", "verdict", "caveats", "file"),
)
"""Columns of targets.csv that a row has of each run."""


class PairRow(NamedTuple):
    """A target and what both runs say of it; docs/screens.md explains each column.

    target : its name in A, or in B where only B has it. name_in_b : where it is another. change : codes, separated by
    blanks. difference : of `dockq`, B − A, None unless both are known. a, b : its rows of targets.csv.
    """

    target: str
    name_in_b: str
    status: str
    change: str
    trust: str
    difference: float | None
    why: str
    a: TargetRow | None
    b: TargetRow | None

    @property
    def codes(self) -> list[str]:
        """The codes of what changed."""
        return self.change.split()


class Shared(NamedTuple):
    """Models that both runs have scored: the same atoms in the same places, whatever they are called.

    n : how many. changed : with another score. largest : difference of scores, of the model `where`, as
    `target/model`. company : how many of those that changed belong to a target whose other models differ.
    """

    n: int = 0
    changed: int = 0
    largest: float = 0.0
    where: str = ""
    company: int = 0


class Comparison(NamedTuple):
    """Two runs by target. alarms : why their scores do not mean the same, in sentences. notes : what else differs."""

    rows: list[PairRow]
    shared: Shared | None
    alarms: list[str]
    notes: list[str]

    def having(self, code: str) -> list[PairRow]:
        """The rows with a code or a status."""
        return [row for row in self.rows if code == row.status or code in row.codes]


def compare(a: Run, b: Run) -> Comparison:
    """Two runs by target: the largest differences first, then targets that lack a score in one run or in both.

    Targets belong together by name and, of those whose names only one run has, by the sequences of their chains where
    these name one target of each run.
    """
    alarms, complexes = alarms_of(a, b), complexes_of(a, b)
    rows = [_row(a, b, *names, complexes, comparable=not alarms) for names in paired(a, b, complexes)]
    return Comparison(sorted(rows, key=_order), shared(a, b), alarms, notes_of(a, b))


def complexes_of(a: Run, b: Run) -> tuple[dict[str, Kinds], dict[str, Kinds]]:
    """Of each run, target → the kinds of its chains and how many there are of each; equal for the same complex."""
    kinds = kinds_of(sequence for run in (a, b) for chains in run.chains.values() for sequence in chains)
    first, second = ({target: _kinds(chains, kinds) for target, chains in run.chains.items()} for run in (a, b))
    return first, second


def _kinds(chains: Mapping[str, int], kinds: Mapping[str, int]) -> Kinds:
    found: Counter[int] = Counter()
    for sequence, n in chains.items():
        found[kinds[sequence]] += n
    return tuple(sorted(found.items()))


def paired(a: Run, b: Run, complexes: tuple[dict[str, Kinds], dict[str, Kinds]]) -> list[tuple[str, str]]:
    """Names of each target in A and in B, empty where the run does not have it."""
    only_a, only_b = ([t for t in x.targets if t not in y.targets] for x, y in ((a, b), (b, a)))
    first, second = (_by_kinds(known, names) for known, names in zip(complexes, (only_a, only_b), strict=True))
    alike = {first[key]: second[key] for key in first if key in second}
    found = [(t, t if t in b.targets else alike.get(t, "")) for t in a.targets]
    return [*found, *(("", t) for t in only_b if t not in alike.values())]


def _by_kinds(known: Mapping[str, Kinds], names: Iterable[str]) -> dict[Kinds, str]:
    """Kinds of chains → the only one of these targets that has them."""
    found: dict[Kinds, list[str]] = {}
    for name in names:
        found.setdefault(known.get(name, ()), []).append(name)
    return {key: names[0] for key, names in found.items() if key and len(names) == 1}


def _row(
    a: Run, b: Run, first: str, second: str, complexes: tuple[dict[str, Kinds], dict[str, Kinds]], *, comparable: bool
) -> PairRow:
    one, other = a.targets.get(first), b.targets.get(second)
    if one is None or other is None:
        return _alone(one, other)
    difference = None if one.dockq is None or other.dockq is None else other.dockq - one.dockq
    codes = [_relation(one, other)]
    codes += [VERDICT] if difference is not None and one.verdict != other.verdict else []
    known = complexes[0].get(first), complexes[1].get(second)
    codes += [CHAINS] if all(known) and known[0] != known[1] else []
    trust, why = _trust(one, other, codes, comparable)
    renamed = "" if first == second else second
    return PairRow(first, renamed, BOTH, " ".join(codes), trust, difference, why, one, other)


def _alone(one: TargetRow | None, other: TargetRow | None) -> PairRow:
    """The row of a target that only one run has."""
    status, which, row = (ONLY_A, A, one) if one else (ONLY_B, B, other)
    why = f"only run {which} has this target"
    why += ", and its best model is predicted to be wrong" if row.verdict == "wrong" else ""
    why += ", and none of its models has a score" if row.dockq is None else ""
    trust = NEITHER if row.verdict in ("wrong", "") else which
    return PairRow(row.target, "", status, status, trust, None, why, one, other)


def _relation(a: TargetRow, b: TargetRow) -> str:
    """The code of how the DockQ of both best models stand to each other."""
    if a.dockq is None or b.dockq is None:
        return SCORED[0 if a.dockq is not None else 1 if b.dockq is not None else 2]
    if abs(b.dockq - a.dockq) < CLOSE:
        return SAME
    ahead = int(b.dockq > a.dockq)
    low, high = (a, b)[ahead].pred_low, (b, a)[ahead].pred_high
    apart = low is not None and high is not None and low > high
    return (BETTER if apart else HIGHER)[ahead]


def _trust(a: TargetRow, b: TargetRow, codes: list[str], comparable: bool) -> tuple[str, str]:
    """Which run to trust for a target that both have, and why. comparable : whether scores mean the same in both."""
    relation = codes[0]
    change = f"; the verdict is {a.verdict} in A and {b.verdict} in B" if VERDICT in codes else ""
    if CHAINS in codes:
        return UNCLEAR, f"the chains of both runs differ under this name: is it the same complex?{change}"
    if relation in SCORED:
        return _one_scored(a, b, relation)
    said = _difference(a, b, relation) + change
    if not comparable:
        return UNCLEAR, f"{said}; the scores of the two runs do not mean the same"
    if a.verdict == b.verdict == "wrong":
        return NEITHER, f"{said}; both best models are predicted to be wrong"
    if relation == SAME:
        return EITHER, said
    which = (A, B)[int(b.dockq > a.dockq)]
    ahead, behind = (a, b) if which == A else (b, a)
    if "out_of_domain" in ahead.caveats.split():
        return UNCLEAR, f"{said}; the model of {which} is out of domain, so that its score is an extrapolation"
    if relation in BETTER or (ahead.verdict, behind.verdict) == ("likely", "wrong"):
        return which, said
    return UNCLEAR, said


def _one_scored(a: TargetRow, b: TargetRow, relation: str) -> tuple[str, str]:
    """The same where a run has no score."""
    which = (A, B, NEITHER)[SCORED.index(relation)]
    if which == NEITHER:
        return NEITHER, "no run has a score"
    if (b if which == B else a).verdict == "wrong":
        return NEITHER, f"only run {which} has a score, and its best model is predicted to be wrong"
    return which, f"only run {which} has a score"


def _difference(a: TargetRow, b: TargetRow, relation: str) -> str:
    """How the two best models stand to each other, in words."""
    if relation == SAME:
        return "no difference to speak of"
    which, (ahead, behind) = ("A", (a, b)) if a.dockq > b.dockq else ("B", (b, a))
    by = f"{which} is {'better' if relation in BETTER else 'higher'} by {number(ahead.dockq - behind.dockq, 2)}"
    if relation in BETTER:
        return f"{by}, and the intervals do not overlap"
    if ahead.pred_low is None or behind.pred_high is None:
        return f"{by}, and how far off either may be is unknown"
    return f"{by}, but the intervals overlap"


def _order(row: PairRow) -> tuple:
    place = (BOTH, ONLY_A, ONLY_B).index(row.status)
    return place, row.difference is None, -abs(row.difference or 0.0), row.target


def shared(a: Run, b: Run) -> Shared | None:
    """The models that both runs have scored; None where a run does not say what its models contain."""
    if not a.contents or not b.contents:
        return None
    first, second = _by_content(a), _by_content(b)
    found = [(abs(first[key][1] - second[key][1]), *first[key], second[key][0]) for key in first if key in second]
    moved = sorted((row for row in found if row[0] > CHANGED), key=lambda row: (-row[0], row[1]))
    sets = _contents_by_target(a), _contents_by_target(b)
    company = sum(sets[0][in_a[0]] != sets[1][in_b[0]] for _, in_a, _, in_b in moved)
    largest, where = (moved[0][0], "/".join(moved[0][1])) if moved else (0.0, "")
    return Shared(len(found), len(moved), largest, where, company)


def _by_content(run: Run) -> dict[str, tuple[Key, float]]:
    """Digest of atoms → the first model that has them, by name, and its score."""
    scores = {(row.target, row.decoy): row.pred_dockq for row in run.table if row.pred_dockq is not None}
    found: dict[str, tuple[Key, float]] = {}
    for key in sorted(scores):
        if digest := run.contents.get(key):
            found.setdefault(digest, (key, scores[key]))
    return found


def _contents_by_target(run: Run) -> dict[str, Counter[str]]:
    found: dict[str, Counter[str]] = {}
    for (target, _), digest in run.contents.items():
        found.setdefault(target, Counter())[digest] += 1
    return found


# ---- the runs as a whole ----------------------------------------------------------------------------------------


def alarms_of(a: Run, b: Run) -> list[str]:
    """Why the scores of two runs do not mean the same, a sentence each."""
    return [*scored_unlike(a, b), *_other_partners(a, b)]


def scored_unlike(a: Run, b: Run) -> list[str]:
    """What differs in how two runs were scored, whatever their targets: scorer, features, and what counts."""
    found = [*_other_scorer(a, b), *_other_features(a, b)]
    if a.rank_by != b.rank_by:
        found.append(f"something else decides on the best model: {a.rank_by} in A, {b.rank_by} in B (rank_by)")
    if a.folds_twins != b.folds_twins:
        found.append(f"twins share a rank in run {'A' if a.folds_twins else 'B'} only (fold_twins)")
    if a.uses_confidence != b.uses_confidence:
        without = "B" if a.uses_confidence else "A"
        found.append(f"run {without} was scored with --without-confidence, the other was not")
    if a.masks_disorder != b.masks_disorder:
        found.append(f"run {'A' if a.masks_disorder else 'B'} was scored with --mask-disorder, the other was not")
    return found


def _other_partners(a: Run, b: Run) -> list[str]:
    """A sentence where chains are one partner in one run and not, or with others, in the other."""
    both = [(t, a.partners[t], b.partners[t]) for t in a.targets if t in a.partners and t in b.partners]
    differ = [(t, *sizes) for t, *sizes in both if sizes[0] != sizes[1]]
    if not differ:
        return []
    target, *sizes = differ[0]
    said = [", ".join(f"a partner of {n} chains" for n in of) or "no partner of several chains" for of in sizes]
    n = f"{counted(len(differ), 'target')} {'has' if len(differ) == 1 else 'have'} other partners"
    return [f"{n}, such as {target}: {said[0]} in A, {said[1]} in B (--partners)"]


def _other_scorer(a: Run, b: Run) -> list[str]:
    digests = [a.scorer, b.scorer]
    checkpoints = [run.place.checkpoint for run in (a, b)]
    if all(digests):
        return [_scorers(digests)] if digests[0] != digests[1] else []
    return [_scorers(checkpoints)] if all(checkpoints) and checkpoints[0] != checkpoints[1] else []


def _scorers(digests: list[str]) -> str:
    first, second = (digest[:SHOWN_DIGEST] for digest in digests)
    return f"different scorers scored the two runs: {first} in A, {second} in B (score both with one of them)"


def _other_features(a: Run, b: Run) -> list[str]:
    """A sentence where features have other modules or parameters."""
    stages = [stage for stage, (one, other) in _recipes(a, b).items() if one[1:] != other[1:]]
    return [f"the features are others: {', '.join(stages)}"] if stages else []


def _recipes(a: Run, b: Run) -> dict[str, tuple[list[str], list[str]]]:
    """Stage → code and parameters of the features of both runs, of those stages that both know."""
    first, second = (run.ledgers[0].recipes if run.ledgers else {} for run in (a, b))
    return {stage: (first[stage], second[stage]) for stage in first if stage in second}


def notes_of(a: Run, b: Run) -> list[str]:
    """What else differs between two runs, or is not known of one, in sentences."""
    found = []
    silent = [name for name, run in (("A", a), ("B", b)) if not run.scorer]
    if silent:
        found.append(
            f"run {' and run '.join(silent)} {'do' if len(silent) > 1 else 'does'} not record the scorer, since an"
            " earlier version wrote it; TopoRank compared the checkpoints"
        )
    elif a.record.version != b.record.version:
        found.append(f"TopoRank {a.record.version} scored run A, {b.record.version} run B")
    stages = [stage for stage, (one, other) in _recipes(a, b).items() if one[:1] != other[:1] and one[1:] == other[1:]]
    if stages:
        found.append(f"another version of the code computed these features: {', '.join(stages)}")
    known = [sum(row.pred_confidence is not None for row in run.targets.values()) for run in (a, b)]
    if any(known):
        said = [f"{n:,} of {counted(len(run.targets), 'target')}" for n, run in zip(known, (a, b), strict=True)]
        if 0 in known or any(n < len(run.targets) for n, run in zip(known, (a, b), strict=True)):
            found.append(f"the predictor's confidence is known for {said[0]} in A and {said[1]} in B")
    return found


def counts_of(comparison: Comparison) -> Mapping[str, int]:
    """How many targets have each code and status."""
    found: Counter[str] = Counter()
    for row in comparison.rows:
        found.update({row.status, *row.codes})
    return found


# ---- the table --------------------------------------------------------------------------------------------------

COLUMNS = (
    *("target", "name_in_b", "status", "change", "trust", "difference"),
    *(f"{name}_{run}" for name in OF_TARGETS for run in "ab"),
    "why",
)


def compare_text(rows: Iterable[PairRow]) -> str:
    """compare.csv."""
    return table_text(COLUMNS, map(_cells, rows))


def _cells(row: PairRow) -> list[object]:
    both = [getattr(of_run, name, None) for name in OF_TARGETS for of_run in (row.a, row.b)]
    difference = None if row.difference is None else round(row.difference, 7)
    return [row.target, row.name_in_b, row.status, row.change, row.trust, difference, *both, row.why]
