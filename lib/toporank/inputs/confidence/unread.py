"""What lies beside models, looks like a predictor's file, and is not read: it may say something of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from string import Formatter
from typing import NamedTuple

from toporank.errors import printable
from toporank.files.compressed import without_compression
from toporank.inputs.confidence.side_files import KINDS, RANKED, names_in, stem_of
from toporank.inputs.predictors import PREDICTORS, names_of
from toporank.structures.identity import split_suffix

OF_CONFIDENCE = re.compile(
    r"(?<![a-z])(scores?|confidences?|pae|plddts?|i?ptm|ranking|summary|metrics|full_data|predicted_aligned_error|ipsae"
    r"|results?(?=.*\.(?:json|pkl)$))(?![a-z])"
)
"""Words in the names of files that say how good models are. Of programs; people call their tables `results`, too."""
OF_MODEL = (".json", ".npz", ".npy", ".pkl")
"""Endings of files that are called after a model and say something of it, whatever else their names say."""
UNUSED = re.compile(
    r"(?:.*[_.-])?(?:data|job_request|config|settings|timings?|relax_metrics|metadata(?:_.*)?|inference_query_set"
    r"|manifest|inputs?|io)\.json"
    r"|(?:.*_)?ranking_scores\.csv"  # of AlphaFold 3: all samples, each of which says so itself
    r"|(?:.*_)?features?(?:_.*)?\.(?:pkl|npz|json)"
    r"|(?:.*[_.])?(?:pde|embeddings?|distogram|contact_probs|affinity)(?:[_.].*)?\.(?:npz|npy|json)"
    r"|capri_(?:ss|clt)\.tsv"
    r"|(?:labels|dockq)\.(?:csv|tsv)"
)
"""Names of files whose content TopoRank leaves out on purpose."""
COPIES = re.compile(r".+_predicted_aligned_error_v\d+\.json")
"""Files of ColabFold with what its other files have, too."""
UNREAD = "TopoRank does not read"
"""How the sentence begins."""
SCORES = "scores"
KINDS_OF_FILES = (SCORES, "pae", "plddt")
"""Fields of `predictors.Predictor`."""
NAMED = 3
"""Files that a message names."""


class Unread(NamedTuple):
    """What looks like a predictor's file beside the models in a folder and is not read.

    Attributes
    ----------
    sentence : on all of these files; empty where there are none
    models : those after which such a file is called, by the names of their files without endings
    of_all : whether there are other such files, which may say something of any model
    """

    sentence: str = ""
    models: frozenset[str] = frozenset()
    of_all: bool = False

    def about(self, model: Path) -> str:
        """The sentence, where any of the files may say something of this model in the folder; otherwise empty."""
        return self.sentence if self.of_all or stem_of(model.name) in self.models else ""


def unread(folder: Path) -> Unread:
    """What looks like a predictor's file beside the models in a folder and is not read.

    Files of models that are not in the folder count only where a model has no such file of its own: it may have been
    renamed.
    """
    there = names_in(folder)
    models = {stem_of(name) for name in there if split_suffix(name)}
    left = [name for name in sorted(there) if _looks_like(name, models)]
    if not left:
        return Unread()
    there = {without_compression(name) for name in there}
    for kind in KINDS_OF_FILES:
        read = {name for stem in models for name in _files_of(stem, kind)}
        of_others = _patterns(models, kind) if all(_has(stem, kind, there) for stem in models) else []
        left = [name for name in left if without_compression(name) not in read]
        left = [name for name in left if not any(each.fullmatch(without_compression(name)) for each in of_others)]
    if not left:
        return Unread()
    more = f" and {len(left) - NAMED} more files" if len(left) > NAMED else ""
    names = ", ".join(printable(name) for name in left[:NAMED])
    like = "looks like a predictor's file" if len(left) == 1 else "look like a predictor's files"
    sentence = (
        f"{UNREAD} {names}{more} in folder {printable(folder.name)}, which {like}"
        " (docs/confidence.md lists the names that it reads)"
    )
    of_models = [_called_after(Path(without_compression(name)).stem, models) for name in left]
    return Unread(sentence=sentence, models=frozenset(filter(None, of_models)), of_all=None in of_models)


def _looks_like(name: str, models: Iterable[str]) -> bool:
    """Whether a file may say something of models, by its name. models : theirs, without endings."""
    plain = without_compression(name)
    low = plain.lower()
    if not low.endswith(KINDS) or UNUSED.fullmatch(low):
        return False
    return bool(OF_CONFIDENCE.search(low)) or (
        low.endswith(OF_MODEL) and _called_after(Path(plain).stem, models) is not None
    )


def _called_after(stem: str, models: Iterable[str]) -> str | None:
    """The model whose name a name begins or ends with, the longest of several; None without any."""
    parts = [*re.finditer(r"[_.-]", stem)]
    heads = {stem, *(stem[: part.start()] for part in parts)}
    tails = {stem[part.end() :] for part in parts}
    return max((heads | tails).intersection(models), key=len, default=None)


def _files_of(stem: str, kind: str) -> set[str]:
    """The names that files of a model may have, without compression. kind : of `KINDS_OF_FILES`."""
    files: set[str] = set()
    for predictor in PREDICTORS:
        names = names_of(predictor, stem)
        if names:
            files.update(pattern.format(**names) for pattern in getattr(predictor, kind))
    return files


def _has(stem: str, kind: str, there: set[str]) -> bool:
    """Whether a model has a file of a kind, or a file that has it all, or one that says which file it is."""
    files = _files_of(stem, kind)
    in_scores = not files or RANKED.fullmatch(stem)
    return bool(there & files) or (in_scores and kind != SCORES and _has(stem, SCORES, there))


def _patterns(models: Iterable[str], kind: str) -> list[re.Pattern[str]]:
    """What all files of a kind are called by the predictors of these models."""
    found = [COPIES]
    for predictor in PREDICTORS:
        if any(predictor.model.fullmatch(stem) for stem in models):
            for pattern in getattr(predictor, kind):
                if pattern.startswith("{stem}"):  # anything could be called so
                    continue
                parts = [(re.escape(text), name) for text, name, *_ in Formatter().parse(pattern)]
                found.append(re.compile("".join(text + (".*" if name is not None else "") for text, name in parts)))
    return found
