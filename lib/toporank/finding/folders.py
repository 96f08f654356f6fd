"""Finding the decoys in a folder, at any depth, including the layouts that predictors write."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator
from pathlib import Path

from toporank.files.printable_names import free_name, name_problem, table_name
from toporank.finding.scan import Folders, Scan, holder_and_sample
from toporank.programs import catalogue
from toporank.structures.identity import INTERMEDIATE, Decoy, Status, model_name

# ---- targets -------------------------------------------------------------------------------------


def _claim(holder: Folders, holders: set[Folders], targets: Container[str]) -> Folders:
    """The highest folder around a holder that is called like a target.

    Where none is, it is the highest with structures of its own, but for the given one. targets :
    their names in small letters, as far as they are known.
    """
    for depth, name in enumerate(holder, 1):
        if table_name(name).casefold() in targets:
            return holder[:depth]
    depth = 1
    while holder[:depth] not in holders:
        depth += 1
    return holder[:depth]


def _labels(
    claims: Iterable[Folders], targets: Container[str] = ()
) -> dict[Folders, str]:
    """Folders of a target → what it is called.

    The name is that of the last of them, after what tells it from others. Folders that are called
    like a target are one target.

    >>> _labels([("a", "out", "one"), ("b", "out", "one"), ("b", "out", "two")])
    {('a', 'out', 'one'): 'a_one', ('b', 'out', 'one'): 'b_one', ('b', 'out', 'two'): 'two'}
    """
    alike: dict[str, list[Folders]] = {}
    for claim in sorted(set(claims)):
        alike.setdefault(claim[-1], []).append(claim)
    labels: dict[Folders, str] = {}
    taken: set[str] = set(alike)
    for last, folders in alike.items():
        for claim in folders:
            is_target = table_name(last).casefold() in targets
            if len(folders) == 1 or len(claim) == 1 or is_target:
                labels[claim] = last
            else:
                labels[claim] = free_name(
                    "_".join([*_telling(claim, folders), last]), taken
                )
                taken.add(labels[claim])
    return dict(sorted(labels.items()))


def _telling(claim: Folders, folders: list[Folders]) -> list[str]:
    """The folders above a target that tell it from others.

    These are all folders where the others are not equally deep.
    """
    above = claim[:-1]
    if len(set(map(len, folders))) > 1:
        return list(above)
    names_at_depth = zip(*folders, strict=True)
    return [
        name
        for name, names in zip(above, names_at_depth, strict=False)
        if {*names} > {name}
    ]


def _named_models(
    scan: Scan, targets: Container[str] = ()
) -> Iterator[tuple[str, str, str]]:
    """(target, decoy name, path) of every structure, in order of the files."""
    name_of_root = scan.folder.resolve().name
    folders = {place.folders for place in scan.models}
    holders = {holder_and_sample(each)[0] for each in folders} - {()}
    claims = {holder: _claim(holder, holders, targets) for holder in holders}
    labels = _labels(claims.values(), targets)
    claims_of_label: dict[str, list[Folders]] = {}
    for claim, label in labels.items():
        claims_of_label.setdefault(label, []).append(claim)
    jobs_at_top = set()
    for place in scan.models:
        if not place.holder:
            jobs_at_top.add(catalogue.first_group("job", place.file.name))
    jobs_at_top.discard("")
    beginnings: dict[Folders, tuple[str, str]] = {}
    for holder, claim in claims.items():
        target = labels[claim]
        others = claims_of_label[target]
        above = _telling(claim, others) if len(others) > 1 else []
        folders_before = [*above, *holder[len(claim) :], ""]
        beginnings[holder] = target, "_".join(folders_before)
    for folders_of_file, file in scan.models:
        holder, sample = holder_and_sample(folders_of_file)
        name = model_name(file.name)
        if sample and sample[0] not in name:
            name = f"{sample[0]}_{name}"
        target = name_of_root
        if holder:
            target, beginning = beginnings[holder]
            name = beginning + name
        else:
            query = "" if sample else catalogue.first_group("query", file.name)
            if not query and len(jobs_at_top) > 1:
                query = catalogue.first_group("job", file.name)
            target = query or target
        yield target, name, file.path.removeprefix("./")


# ---- intermediate states -------------------------------------------------------------------------

RECYCLE = re.compile(
    r"(?P<model>.+(?=[._-]recycled?))[._-]recycled?[._-]?(?P<number>\d+)"
)
"""A state on the way that says so: the name of the model, and its number."""


def _intermediate(models: Iterable[tuple[str, str, str]]) -> dict[str, str]:
    """Path → why it is an intermediate state, of those files that are.

    Where the model itself is missing, because its program was stopped, the last recycle counts
    as it.
    """
    reasons: dict[str, str] = {}
    names: set[tuple[str, str]] = set()
    recycles: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for target, name, path in models:
        names.add((target, name))
        recycle = _recycle(name)
        if recycle:
            model, number = recycle
            recycles.setdefault((target, model), []).append((number, path))
        if catalogue.match_of("trajectory", name):
            reasons[path] = "the steps of a trajectory"
    for (target, name), states in recycles.items():
        last, _ = max(states)
        # the final model may be there as its relaxed form alone
        final_names = {
            (target, name),
            (target, name.replace("_unrelaxed_", "_relaxed_")),
        }
        for number, path in states:
            if final_names & names:
                reasons[path] = f"recycle {number} of {name}"
            elif number != last:
                reasons[path] = (
                    f"recycle {number} of {name}, whose last one here is {last}"
                )
    return reasons


def _recycle(name: str) -> tuple[str, int] | None:
    """The model and the number of a state on the way to it; None of any other name."""
    if ".r" not in name and "recycle" not in name:
        return None
    match = RECYCLE.fullmatch(name) or catalogue.match_of("recycle", name)
    return (match["model"], int(match["number"])) if match else None


def find_decoys(
    dataset: str, folder: Path | Scan, targets: Container[str] = ()
) -> list[Decoy]:
    """Return all structures below a folder, at any depth, sorted by target and name.

    Parameters
    ----------
    dataset : name of the data set
    folder : where to look, or what is in it
    targets : names of targets in small letters, where labels or natives give them; a folder that is
        called like one is it, whatever is above and below

    Returns
    -------
    A decoy for each file `<folder>/<target>/<decoy>.<suffix>`. What lies deeper below a target's
    folder is of this target, `<folders>_<decoy>`. Structures that lie directly in `folder` form one
    target named like it, those of ColabFold and of several jobs of the AlphaFold Server one for
    each query. The samples that AlphaFold 3 writes, `<target>/seed-1_sample-0/…`, are decoys of the
    target. Of a run of HADDOCK the last step counts. A file whose name no table or artefact can
    have, and an intermediate state, is a decoy with `refused` set. Two files may have one name:
    `complexes.group` gives them others. `Scan.passed_over` lists what is not read.

    Raises
    ------
    ConfigError
        when the folder cannot be listed

    Examples
    --------
    >>> from toporank.layout import repository
    >>> example = repository() / "resources/example"
    >>> decoys = find_decoys("example", example / "decoys")
    >>> len(decoys), decoys[0].target, decoys[0].name
    (66, '1AVZ', 'far1')
    """
    scan = folder if isinstance(folder, Scan) else Scan(folder)
    models = list(_named_models(scan, targets))
    intermediate = _intermediate(models)
    return sorted(
        _decoy(dataset, *model, intermediate.get(model[2], "")) for model in models
    )


def _decoy(dataset: str, target: str, name: str, path: str, intermediate: str) -> Decoy:
    """The decoy of these names, refused where they are of no use, or where it is no model."""
    refused = name_problem(target, of="folder") or name_problem(name)
    if refused:
        decoy = Decoy(dataset, table_name(target), table_name(name), path)
        return decoy._replace(refused=refused, refused_as=Status.UNREADABLE)
    decoy = Decoy(dataset, target, name, path)
    if not intermediate:
        return decoy
    reason = f"{INTERMEDIATE}{intermediate}"
    return decoy._replace(refused=reason, refused_as=Status.INTERMEDIATE)
