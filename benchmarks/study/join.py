"""Adds networks of contacts to a scorer, and fits its judge and the quality of contacts again.

    PYTHONPATH=lib python benchmarks/study/join.py IN WORK OUT SCORER

IN, WORK and OUT are what `on_device.py` read, built and trained; `on_device.py said OUT` comes before. SCORER
is the folder of a scorer with networks of attention, such as resources/scorer. It gets the network
of contacts of each fold as a further member, and a judge that is fitted to the mean of both kinds.
The quality of residues and contacts is learned from predicted models alone.
"""

from __future__ import annotations

import argparse
import pickle
import sys
from pathlib import Path

import pandas as pd
from on_device import GROUPS, partners_in, read

from toporank.comparing.contacts import contact_bytes
from toporank.comparing.decoys import Compared
from toporank.comparing.native.label import Native, label
from toporank.comparing.native.local import native_contacts, right_residues
from toporank.comparing.votes import pair_named
from toporank.files.packfile import PackedGraphs
from toporank.scorer.judge import read_judge, write_judge
from toporank.scorer.make import expected, judged_by_natives
from toporank.scorer.manifest import ENSEMBLE, JUDGE, seal
from toporank.scorer.networks import Networks
from toporank.scorer.prediction import KEY
from toporank.scorer.residue_quality import LabelledContacts, fit_quality
from toporank.scorer.scorer import Scorer

sys.path.insert(0, str(Path(__file__).parents[1]))
import transfer

GROUP = "bm55-af2-boltz"
SEED = 222


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("inputs", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("scorer", type=Path)
    args = parser.parse_args()
    for fold in range(5):
        network = args.out / f"networks/contacts_fold{fold}_ca_1_{SEED}.safetensors"
        member = args.scorer / ENSEMBLE / f"fold{fold}_contacts_seed{SEED}.safetensors"
        member.write_bytes(network.read_bytes())
    seal(args.scorer, mean=True)
    decoys = pd.read_csv(transfer.PREDICTIONS, dtype=transfer.TEXT)
    decoys = decoys.sort_values(transfer.KEYS, ignore_index=True)
    similarity = transfer.similarity_of(args.work, decoys)
    transfer.refit(args.scorer, decoys, similarity)
    judge = read_judge(args.scorer / JUDGE)
    decoys = decoys.assign(pred_dockq=decoys["network"])
    decoys = decoys.assign(**expected(judge, decoys, similarity))
    labels = pd.read_csv(
        args.inputs / "tables/predicted_labels.csv", dtype={"target": str}
    )
    labels = labels[labels["group"] == GROUP]
    labelled = labelled_contacts(args.work, args.scorer, decoys, labels)
    table = judged_by_natives({GROUPS[GROUP]: labelled}, decoys)
    quality = fit_quality(table)
    write_judge(args.scorer / JUDGE, judge.model_copy(update={"quality": quality}))
    seal(args.scorer, mean=True)


def labelled_contacts(
    work: Path, folder: Path, decoys: pd.DataFrame, labels: pd.DataFrame
) -> LabelledContacts:
    """Predicted models with what the networks of their folds say of residues and contacts."""
    dataset = GROUPS[GROUP]
    rows = decoys[decoys["dataset"] == dataset]
    splits = pd.read_csv(work / "splits.csv", dtype=transfer.TEXT)
    splits = splits[splits["dataset"] == dataset].set_index("target")
    folds = {
        "local": rows.drop_duplicates("target").set_index("target")["fold"],
        "contacts": splits["fold"],
    }
    store = PackedGraphs.open([work / dataset / "graphs.safetensors"])
    parts: dict[str, list[pd.DataFrame]] = {"residues": [], "contacts": []}
    for kind, fold_of in folds.items():
        for fold in range(5):
            path = folder / ENSEMBLE / f"fold{fold}_{kind}_seed{SEED}.safetensors"
            predicted = Networks(Scorer.of(path)).predict(store)
            unseen = fold_of.index[fold_of == fold]
            for name, of_network in parts.items():
                table = getattr(predicted, name).merge(rows[KEY], on=KEY)
                of_network.append(table[table["target"].isin(unseen)])
    tables = {}
    for name, of_networks in parts.items():
        table = pd.concat(of_networks)
        others = [column for column in table if column != "pred_network"]
        mean = table.groupby(others, sort=False, dropna=False)["pred_network"].mean()
        tables[name] = mean.reset_index()
    compared, in_native, of_natives = {}, [], []
    for target, of_target in rows.groupby("target"):
        content = (work / f"predicted/{GROUP}__{target}.pkl").read_bytes()
        partners = labels.merge(of_target[KEY], on=KEY).set_index("decoy")["partners"]
        found = by_native(target, pickle.loads(content), partners)
        for key, of_decoy in found.items():
            compared[key], right, pairs = of_decoy
            in_native += [(*key, *residue) for residue in right.items()]
            of_natives += [(*key, *pair) for pair in pairs]
    return LabelledContacts(
        residues=tables["residues"].sort_values(KEY, kind="stable"),
        contacts=tables["contacts"].sort_values(KEY, kind="stable"),
        compared=compared,
        in_native=pd.DataFrame(in_native, columns=[*KEY, "residue", "right"]),
        native_contacts=pd.DataFrame(of_natives, columns=[*KEY, "first", "second"]),
    )


def by_native(target: str, texts: dict, partners: pd.Series) -> dict:
    """By target and decoy: what it is compared by, its residues, and the native's contacts.

    texts : of the native and the decoys. partners : by decoy, such as `A:B`
    """
    native_complex = read(texts["native"])
    of_native = partners_in(partners.iloc[0], native_complex)
    native = Native(native_complex, of_native)
    found = {}
    for decoy, named_partners in partners.items():
        whole = read(texts[decoy])
        complex_ = whole.with_partners(partners_in(named_partners, whole))
        counterparts = label(native, complex_).counterparts
        pairs = native_contacts(complex_, counterparts, native_complex)
        names = [*map(str, complex_.residues)]
        is_right = right_residues(complex_, counterparts, pairs)
        right = {names[place]: value for place, value in is_right.items()}
        named = [pair_named(names[i], names[j]) for i, j in pairs.tolist()]
        found[target, decoy] = Compared(decoy, contact_bytes(complex_)), right, named
    return found


if __name__ == "__main__":
    main()
