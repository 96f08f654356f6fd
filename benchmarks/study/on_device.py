"""Trains all networks of a study on one machine with a GPU and many cores, in minutes.

    python benchmarks/study/on_device.py build IN WORK --until SECONDS
    python benchmarks/study/on_device.py haddock POSES WORK
    python benchmarks/study/on_device.py train WORK OUT --until SECONDS --network contacts
    python benchmarks/study/on_device.py said OUT

IN is a folder into which the data releases come, in any order: `second_natives.structures`,
`fifth_natives.structures`, `predicted.structures`, `real_decoys.tar.xz`, `membrane.tar.xz` and
`first/` (natives of the first release), with the tables and scripts of the releases in `tables/`.
A file counts as soon as `NAME.ready` lies beside it. `build`, which goes on where it was stopped,
makes the graphs of all labelled decoys, and poses of natives as many as time allows: eight of all
qualities, the wrong ones that score best in docking, crystal contacts where a biological interface
is known, and the native. `haddock` adds the poses that `haddock.py` left in a folder. `train` trains
the networks of `jobs` in their order, and writes what each says of the decoys that it has not seen.
`--until` is in seconds since 1970.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import multiprocessing
import pickle
import sys
import tarfile
import time
import traceback
import zlib
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1]))
import transfer

CORES = multiprocessing.cpu_count()
GROUPS = {
    "bm55-af2-boltz": "af2-boltz",
    "bm55-rigid": "rigid",
    "docked": "docked",
    "protac-megadock": "protac",
    "sabdab-docked": "antibody",
    "membrane": "membrane",
    "perturbed": "perturbed",
    "haddock": "haddock",
}
"""Data sets by their groups."""
NEW_SOURCES = ("docked", "af2-boltz", "haddock")
"""Data sets on which networks are judged that saw none of them."""
POSES, HARD = 8, 4
ROTATIONS = 48
"""Of the docking of a native; --rotations has fewer, where cores are few."""
PAIRS, PAIRS_A_RESIDUE = 40, 2.5
RESIDUES = 650
"""Of a native, at most; --residues has larger ones, too."""
NO_NATIVE = "4huq"


# ---- graphs --------------------------------------------------------------------------------------


def read(text: str | bytes):
    """A complex from the text of a PDB file."""
    from toporank.structures.read import open_structure

    content = text.encode() if isinstance(text, str) else text
    return open_structure(Path("model.pdb"), content).complex()


def partners_in(text: str, complex_) -> tuple:
    """Partners such as `AB:C` with the chains that a complex has."""
    sides = []
    for side in text.split(":"):
        names = tuple(name for name in side if name in complex_.chains)
        if names:
            sides.append(names)
    return tuple(sides)


def choices():
    from toporank.features.registry import resolve

    stages = ("interface", "topology", "nodes", "edges")
    return resolve({stage: {} for stage in stages})


def areas_between(complex_, pairs: np.ndarray) -> np.ndarray:
    """The surface that residues share, as the column `area` before its root: Å², (P,).

    pairs : int, (P, 2), residues; one of them -1 has none
    """
    from toporank.features.contact_edges import _shared_areas
    from toporank.features.surface import around

    known = (pairs >= 0).all(axis=1)
    found = np.zeros(len(pairs))
    if not known.any():
        return found
    nodes, places = np.unique(pairs[known], return_inverse=True)
    once = np.sort(places.reshape(-1, 2), axis=1)
    once, back = np.unique(once, axis=0, return_inverse=True)
    shared = _shared_areas(around(complex_, nodes), nodes, once)
    found[known] = shared[back.ravel(), 0]
    return found


def area_quality(area: np.ndarray, in_native: np.ndarray) -> np.ndarray:
    """CAD-score of contacts (Olechnovič et al. 2013, doi:10.1002/prot.24172): the share of their area
    that the native has, too; float32, (E,), nan without area.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        wrong = np.minimum(np.abs(area - in_native), area) / area
    return np.where(area > 0, 1 - wrong, np.nan).astype(np.float32)


def graph_of(name: str, complex_, native, native_complex, dockq=None) -> dict:
    """The graph of a decoy with its labels, and what the judge compares it by."""
    from toporank.comparing.contacts import contact_bytes
    from toporank.comparing.native.label import label
    from toporank.comparing.native.local import expected_ca, local_quality

    found = {"decoy": name, "y": dockq}
    counterparts = None
    if native is not None:
        of_native = label(native, complex_)
        found["y"] = of_native.dockq
        counterparts = of_native.counterparts
    chosen = choices()
    interface = chosen["interface"](complex_)
    topology = chosen["topology"](complex_, interface.index)
    nodes = chosen["nodes"](complex_, interface.index, topology)
    is_node = np.array(nodes.lost) == ""
    keep = interface.index[is_node]
    edges = chosen["edges"](complex_, keep)
    order = np.argsort(edges.index[1], kind="stable")
    index = edges.index[:, order]
    found |= {
        "x": nodes.values[is_node].astype(np.float32),
        "edge_index": index.astype(np.int64),
        "edge_attr": edges.attributes[order].astype(np.float32),
        "residues": [str(complex_.residues[r]) for r in keep],
        "n_interface_residues": len(interface.index),
        "n_chains": len(complex_.chains),
        "contacts": contact_bytes(complex_),
    }
    unknown = np.full(index.shape[1], np.nan, np.float32)
    found["by_ca"], found["by_area"] = unknown, unknown
    if counterparts is not None:
        expected = expected_ca(counterparts, native_complex)[keep]
        found["by_ca"] = local_quality(complex_.xyz[complex_.ca[keep]], expected, index)
        area = areas_between(complex_, keep[index].T)
        in_native = areas_between(native_complex, counterparts[keep][index].T)
        found["by_area"] = area_quality(area, in_native)
    return found


def save(work: Path, dataset: str, target: str, group: str, graphs: list, whole) -> str:
    """Keep the graphs of a target with the similarity of its decoys and its chains."""
    from toporank.chains.kmers import kind_of
    from toporank.comparing.decoys import Compared, read_decoys
    from toporank.comparing.votes import similarities

    if not graphs:
        return f"{dataset}/{target}: nothing"
    graphs = sorted(graphs, key=lambda graph: graph["decoy"])
    alike = None
    if dataset != "sampled":
        of_target = [Compared(graph["decoy"], graph["contacts"]) for graph in graphs]
        alike = np.array(list(similarities(read_decoys(of_target).contacts)))
    for graph in graphs:
        del graph["contacts"]
    chains = {}
    for name, sequence in whole.sequences.items():
        chains.setdefault(sequence, []).append(name)
    rows = []
    for sequence, names in chains.items():
        rows.append(
            (target, "native", "", " ".join(names), kind_of(sequence), sequence)
        )
    content = {"graphs": graphs, "alike": alike, "chains": rows, "group": group}
    path = work / "parts" / f"{dataset}__{target}.pkl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.with_suffix(".tmp").write_bytes(pickle.dumps(content, protocol=5))
    path.with_suffix(".tmp").rename(path)
    return ""


def of_target(work: Path, group: str, target: str, models: Path, rows: list) -> str:
    """Graphs of the labelled decoys of a target. rows : decoy, partners and DockQ."""
    from toporank.comparing.native.label import Native

    texts = pickle.loads(models.read_bytes())
    native_complex = read(texts["native"])
    native = None
    if target != NO_NATIVE:
        native = Native(native_complex, partners_in(rows[0][1], native_complex))
    graphs, whole = [], native_complex
    for decoy, partners, dockq in rows:
        try:
            whole = read(texts[decoy])
            complex_ = whole.with_partners(partners_in(partners, whole))
            known = native if native is not None else None
            graphs.append(graph_of(decoy, complex_, known, native_complex, dockq))
        except Exception as error:  # noqa: BLE001 -- one decoy of thousands
            print(f"{group}/{target}/{decoy}: {error}", flush=True)
    return save(work, GROUPS[group], target, group, graphs, whole)


def perturbed(work: Path, folder: Path, target: str) -> str:
    """Graphs of moved partners of the first release."""
    script = module(folder.parent / "tables/make_decoys.py")
    made = work / "moved" / target
    made.mkdir(parents=True, exist_ok=True)
    bound, unbound = (
        script.read_complex(folder / f"{target}_{form}.pdb.gz")
        for form in ("bound", "unbound")
    )
    native = made / "native.pdb"
    script.write_complex(native, *bound)
    texts, rows = {"native": native.read_text()}, []
    for decoy, receptor, ligand, _ in script.make_target(bound, unbound, target, 2024):
        script.write_complex(made / "decoy.pdb", receptor, ligand)
        texts[decoy] = (made / "decoy.pdb").read_text()
        rows.append((decoy, "A:B", None))
    models = made / "models.pkl"
    models.write_bytes(pickle.dumps(texts))
    return of_target(work, "perturbed", target, models, rows)


def module(path: Path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    found = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = found
    spec.loader.exec_module(found)
    return found


# ---- poses of natives ----------------------------------------------------------------------------


def dock_on_gpu(device: str = "cuda") -> None:
    """Let docking transform on the GPU, if there is one."""
    import torch

    if device == "cuda" and not torch.cuda.is_available():
        return
    torch.set_num_threads(1)
    from toporank_sampling import docking_case
    from toporank_sampling.docking import Docking

    if docking_case.Docking is not Docking:
        return

    class OnGpu(Docking):
        def scores(self, rotation: np.ndarray) -> np.ndarray:
            if not hasattr(self, "_field_there"):
                self._field_there = torch.from_numpy(self._field).to(device)
                self._weights_there = torch.from_numpy(self._weights).float().to(device)
            points = self._points((self._ligand - self.centre) @ rotation.T)
            at = np.ravel_multi_index(points.T, self.shape, mode="wrap")
            grid = torch.zeros(3, int(np.prod(self.shape)), device=device)
            grid.index_add_(1, torch.from_numpy(at).to(device), self._weights_there)
            ligand = torch.fft.rfftn(grid.view(3, *self.shape), dim=(1, 2, 3))
            product = (self._field_there * ligand.conj()).sum(0)
            return torch.fft.irfftn(product, s=self.shape).cpu().numpy()

    docking_case.Docking = OnGpu


def of_matched_sizes(pool: list, bound, wanted: int, rng: np.random.Generator) -> list:
    """Poses of a pool, in random order, whose sizes are alike in all classes, as sampling has it."""
    from toporank_sampling.choice import matched
    from toporank_sampling.poses import ca_pairs

    receptor, ligand = bound.receptor, bound.ligand
    native = len(ca_pairs(receptor.xyz[receptor.ca], ligand.xyz[ligand.ca]))
    about = [
        (pose.dockq, pose.size, f"{pose.case.form} {pose.docking}") for pose in pool
    ]
    dockq, size, origin = (np.array(column) for column in zip(*about, strict=True))
    chosen = matched(dockq, size, origin, native, wanted, rng)
    return [pool[i] for i in rng.permutation(chosen)]


def poses_of(
    work: Path,
    folder: Path,
    target: str,
    partners: str,
    crystals: list,
    rotations: int = ROTATIONS,
) -> str:
    """Poses of a native, kept until graphs can be made."""
    from toporank.comparing.native.label import Native
    from toporank.errors import TopoRankError
    from toporank_sampling import target as sampling
    from toporank_sampling.poses import dock, labelled

    dock_on_gpu()
    path = folder / f"{target}.pkl"
    texts = pickle.loads(path.read_bytes())
    files = folder / "files" / target
    files.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (files / f"{name}.pdb").write_text(text)
    unbound = [files / f"{name}.pdb" for name in texts if name.startswith("unbound")]
    text = ":".join("+".join(side) for side in partners.split(":"))
    source = sampling.Sampled(target, files / "bound.pdb", unbound, text)
    rng = np.random.default_rng([2026, zlib.crc32(target.encode())])
    native_complex = read(texts["bound"])
    given = partners_in(partners, native_complex)
    native = Native(native_complex, given)
    poses = [("native", native_complex.with_partners(given))]
    failures: list = []
    try:
        cases = sampling._docking_cases(source, failures)
        pool = []
        for case in cases:
            pool += dock(case, rotations // len(cases), rng)
        chosen = of_matched_sizes(pool, cases[0], 4 * POSES, rng)
        candidates = sampling._labelled_poses(
            chosen, 2 * POSES, target, failures, lambda *_: None
        )
        for i, pose in enumerate(sampling._last_choice(candidates, POSES, rng)):
            poses.append((f"pose{i}", _placed(pose)))
        wrong = [p for p in pool if p.dockq < 0.1 and p.docking == "global"]
        n = 0
        for docked in sorted(wrong, key=lambda p: -p.pose.score):
            try:
                poses.append((f"hard{n}", _placed(labelled(docked))))
                n += 1
            except TopoRankError:
                continue
            if n == HARD:
                break
    except TopoRankError as error:
        print(f"{target}: {error}", flush=True)
    for name in crystals:
        text = pickle.loads((folder / f"{name}.pkl").read_bytes())["bound"]
        poses.append((f"crystal_{name}", read(text)))
    (folder / f"{target}.poses").write_bytes(
        pickle.dumps((poses, native, native_complex), protocol=5)
    )
    return ""


def _placed(pose):
    case = pose.docked.case
    model = case.complex_of(pose.ligand_xyz)
    return model.with_partners(case.native.partners)


def graphs_of_poses(work: Path, folder: Path, target: str) -> str:
    path = folder / f"{target}.poses"
    poses, native, native_complex = pickle.loads(path.read_bytes())
    graphs = []
    for name, complex_ in poses:
        try:
            graph = graph_of(name, complex_, native, native_complex)
        except Exception as error:  # noqa: BLE001 -- one pose of thousands
            print(f"{target}/{name}: {error}", flush=True)
            continue
        if name.startswith("crystal") and graph["y"] > 0.23:
            continue
        graphs.append(graph)
    path.unlink()
    return save(work, "sampled", target, "sampled", graphs, native_complex)


# ---- what is to be done --------------------------------------------------------------------------


def unpacked(path: Path, script: Path, out: Path, only: set | None) -> list:
    """Files of a pack, one for each folder in it: {name: text}."""
    out.mkdir(parents=True, exist_ok=True)
    here, texts, names = None, {}, []

    def write() -> None:
        if texts and (only is None or here in only):
            (out / f"{here.replace('/', '__')}.pkl").write_bytes(pickle.dumps(texts))
            names.append(here)

    for key, text in module(script).unpack(path):
        folder, _, name = key.rpartition("/")
        if folder != here:
            write()
            here, texts = folder, {}
        texts[name] = text
    write()
    return names


def unpacked_tar(path: Path, out: Path) -> list:
    """Models of an archive by target."""
    out.mkdir(parents=True, exist_ok=True)
    texts: dict[str, dict[str, str]] = {}
    with tarfile.open(path) as archive:
        for member in archive:
            if not member.isfile() or not member.name.endswith(".pdb"):
                continue
            parts = Path(member.name).parts
            text = archive.extractfile(member).read().decode()
            if parts[-2] == "natives":
                texts.setdefault(Path(parts[-1]).stem, {})["native"] = text
            else:
                texts.setdefault(parts[-2], {})[Path(parts[-1]).stem] = text
    for target, models in texts.items():
        (out / f"{target}.pkl").write_bytes(pickle.dumps(models))
    return sorted(texts)


def natives(tables: Path, residues: int) -> tuple[pd.DataFrame, dict]:
    """Natives that poses are made of, and the crystal contacts of each."""
    second = pd.read_csv(tables / "second_natives.csv").assign(release="second")
    fifth = pd.read_csv(tables / "fifth_natives.csv").assign(release="fifth")
    table = pd.concat([second, fifth[fifth["interface_kind"] == "biological"]])
    fits = table["n_res_receptor"] + table["n_res_ligand"] <= residues
    fits &= table["ca_pairs10"] >= PAIRS
    fits &= table["pairs_per_res"] <= PAIRS_A_RESIDUE
    table = table[fits].drop_duplicates("id")
    crystals: dict[str, list] = {}
    known = fifth[
        (fifth["interface_kind"] == "crystal")
        & fifth["biological_of_same_chain"].notna()
    ]
    for row in known.itertuples():
        of = row.biological_of_same_chain.removeprefix("second/")
        crystals.setdefault(of, []).append(row.id)
    # one of each cluster before the second of any
    table = table.sample(frac=1, random_state=5)
    turn = table.groupby("cluster").cumcount()
    return table.iloc[np.argsort(turn, kind="stable")], crystals


def compile_part(part: str) -> str:
    """Compile loops before all workers would."""
    begin = time.time()
    from toporank.layout import repository

    folder = repository() / "resources/example"
    path = sorted((folder / "decoys").glob("*/*.pdb.gz"))[0]
    complex_ = read(gzip.decompress(path.read_bytes()))
    chosen = choices()
    index = chosen["interface"](complex_).index
    if part == "topology":
        chosen["topology"](complex_, index)
    else:
        columns = len(chosen["topology"].columns)
        nodes = chosen["nodes"](complex_, index, np.zeros((len(index), columns)))
        chosen["edges"](complex_, index[np.array(nodes.lost) == ""])
    return f"{part} compiled in {time.time() - begin:.0f} s"


def is_done(work: Path, task: tuple) -> bool:
    """Whether an earlier run has made the graphs of a task."""
    if task[0] is of_target:
        dataset, target = GROUPS[task[2]], task[3]
    elif task[0] is perturbed:
        dataset, target = "perturbed", task[3]
    elif task[0] is poses_of:
        dataset, target = "sampled", task[3]
    else:
        return False
    return (work / f"parts/{dataset}__{target}.pkl").exists()


def build(args: argparse.Namespace) -> None:
    inputs, work, tables = args.inputs, args.work, args.inputs / "tables"
    (work / "parts").mkdir(parents=True, exist_ok=True)
    labels = pd.read_csv(tables / "predicted_labels.csv", dtype={"target": str})
    first = pd.read_csv(tables / "labels.csv", dtype={"target": str})
    sampled, crystals = natives(tables, args.residues)
    wanted = {*sampled["id"], *chain.from_iterable(crystals.values())}
    if args.most:
        sampled = sampled.head(args.most)
    queue: list[tuple[float, tuple]] = [
        (0, (compile_part, "topology")),
        (0, (compile_part, "nodes")),
    ]
    compiled = 0
    waiting: list = []  # tasks that need compiled code
    folder = work / "natives"
    seen: set[str] = set()
    unpacked_natives: set[str] = set()
    asked: set[str] = set()
    done = failed = 0
    running: dict = {}
    sources = {
        "predicted.structures": lambda p: (unpacked, p, tables / "structures.py", work / "predicted", None),
        "second_natives.structures": lambda p: (unpacked, p, tables / "structures.py", folder, wanted),
        "fifth_natives.structures": lambda p: (unpacked, p, tables / "structures.py", folder, wanted),
        "real_decoys.tar.xz": lambda p: (unpacked_tar, p, work / "docked"),
        "membrane.tar.xz": lambda p: (unpacked_tar, p, work / "membrane"),
        "first": lambda p: None,
    }  # fmt: skip
    context = multiprocessing.get_context("fork")
    begin = time.time()
    with ProcessPoolExecutor(args.cores, mp_context=context) as pool:
        while time.time() < args.until and not (work / "stop").exists():
            for name, task in sources.items():
                if name in seen or not (inputs / f"{name}.ready").exists():
                    continue
                seen.add(name)
                print(f"{time.time() - begin:.0f} s: {name} is there", flush=True)
                if name == "first":
                    for path in sorted((inputs / "first").glob("*_bound.pdb.gz"))[
                        : args.most or None
                    ]:
                        target = path.name.removesuffix("_bound.pdb.gz")
                        waiting.append((2, (perturbed, work, inputs / "first", target)))
                else:
                    queue.append((1, task(inputs / name)))
            if compiled == 2 and waiting:
                queue += waiting
                waiting = []
            queue = [entry for entry in queue if not is_done(work, entry[1])]
            queue.sort(key=lambda entry: entry[0])
            while queue and len(running) < args.cores + 2:
                task = queue.pop(0)[1]
                running[pool.submit(*task)] = task
            if not running and seen == set(sources):
                break
            finished, _ = wait(running, timeout=0.5, return_when=FIRST_COMPLETED)
            for future in finished:
                task = running.pop(future)
                try:
                    result = future.result()
                except Exception:  # noqa: BLE001 -- a job: it is printed and counted, the others go on
                    failed += 1
                    print(
                        f"{task[0].__name__} {task[1:4]}: {traceback.format_exc()[-400:]}",
                        flush=True,
                    )
                    continue
                done += 1
                if task[0] is compile_part:
                    compiled += 1
                    print(result, flush=True)
                elif task[0] is unpacked and task[3] == folder:
                    unpacked_natives.update(result)
                    print(
                        f"{time.time() - begin:.0f} s: {len(result)} natives",
                        flush=True,
                    )
                    for place, row in enumerate(sampled.itertuples()):
                        of_crystal = [
                            c for c in crystals.get(row.id, []) if c in unpacked_natives
                        ]
                        if row.id in unpacked_natives and row.id not in asked:
                            asked.add(row.id)
                            entry = (
                                poses_of,
                                work,
                                folder,
                                row.id,
                                row.partners,
                                of_crystal,
                                args.rotations,
                            )
                            queue.append((3 + place / 1e4, entry))
                elif task[0] is poses_of:
                    entry = (2.5, (graphs_of_poses, work, folder, task[3]))
                    (queue if compiled == 2 else waiting).append(entry)
                elif task[0] is unpacked:
                    print(f"{time.time() - begin:.0f} s: predicted", flush=True)
                    for (group, target), rows in labels.groupby(["group", "target"]):
                        if group in GROUPS and f"{group}/{target}" in result:
                            entry = rows[["decoy", "partners", "dockq"]].values.tolist()
                            models = work / "predicted" / f"{group}__{target}.pkl"
                            waiting.append(
                                (2, (of_target, work, group, target, models, entry))
                            )
                elif task[0] is unpacked_tar:
                    group = task[2].name
                    print(f"{time.time() - begin:.0f} s: {group}", flush=True)
                    for target in result:
                        rows = first[first["target"] == target]
                        entry = [(d, "A:B", None) for d in rows["decoy"]]
                        if group == "membrane":
                            rows = pd.read_csv(
                                tables / "membrane_labels.csv", dtype={"target": str}
                            )
                            rows = rows[rows["target"] == target]
                            entry = rows[["model", "partners", "dockq"]].values.tolist()
                        models = task[2] / f"{target}.pkl"
                        waiting.append(
                            (2, (of_target, work, group, target, models, entry))
                        )
        print(
            f"{time.time() - begin:.0f} s: {done} tasks, {failed} failed, {len(queue)} left",
            flush=True,
        )
        for future in running:
            future.cancel()
        for process in list(pool._processes.values()):
            process.kill()
    pack_all(work, args.cores)
    (work / "built").touch()
    print(f"{time.time() - begin:.0f} s: packed", flush=True)


def add_haddock(args: argparse.Namespace) -> None:
    """Make the graphs of HADDOCK3's poses of pairs that have none, and all packs again."""
    models = args.work / "models.pkl"
    for path in sorted((args.poses / "pairs").glob("*.csv")):
        pair = path.stem
        if (args.work / f"parts/haddock__{pair}.pkl").exists():
            continue
        texts = {"native": (args.poses / f"natives/{pair}.pdb").read_text()}
        rows = []
        for row in pd.read_csv(path, dtype=str).itertuples():
            decoy = args.poses / f"decoys/{pair}/{row.Model}.pdb"
            texts[row.Model] = decoy.read_text()
            rows.append((row.Model, row.Partners, None))
        models.write_bytes(pickle.dumps(texts))
        print(of_target(args.work, "haddock", pair, models, rows) or pair, flush=True)
    pack_all(args.work, args.cores)


# ---- packs ---------------------------------------------------------------------------------------


def pack_all(work: Path, cores: int) -> None:
    """Packs of all data sets, tables of chains, splits and decoys."""
    from toporank.comparing.homology.chain_tables import (
        ChainRow,
        compared,
        write_chains,
        write_splits,
    )
    from toporank.finding.labels import SplitRules
    from toporank.learning.assignment import assign

    datasets = sorted(
        {path.name.split("__")[0] for path in (work / "parts").glob("*.pkl")}
    )
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(cores, mp_context=context) as pool:
        packed = dict(
            zip(datasets, pool.map(pack, [work] * len(datasets), datasets), strict=True)
        )
    labels, rows, decoys, alike = {}, [], [], {}
    for dataset, (chains, table, similarity) in packed.items():
        chains = [ChainRow(*row) for row in chains]
        write_chains(work / dataset / "chains.csv", chains)
        rows += chains
        decoys.append(table)
        alike |= similarity
        labels |= {(dataset, target): "" for target in table["target"].unique()}
    rules = SplitRules(split_by="cluster", percent=20.0, seed=222, folds=5)
    splits = assign(labels, compared(rows), rules)
    write_splits(work / "splits.csv", splits)
    decoys = pd.concat(decoys, ignore_index=True)
    about = pd.DataFrame(splits)[["dataset", "target", "cluster", "fold"]]
    decoys = decoys.merge(about, on=["dataset", "target"])
    decoys.to_csv(work / "decoys.csv", index=False)
    np.savez_compressed(
        work / "alike.npz",
        **{f"{d}/{t}": a.astype(np.float32) for (d, t), a in alike.items()},
    )
    print(
        decoys.groupby("dataset").agg({"target": "nunique", "decoy": "size"}),
        flush=True,
    )


def pack(work: Path, dataset: str) -> tuple:
    """Two packs of a data set: with local quality by areas, and by CA atoms."""
    from safetensors.numpy import save_file

    from toporank.building.packing import Member, write_pack
    from toporank.features.steps import graph_metadata
    from toporank.files import described
    from toporank.files.graph_file import Graph
    from toporank.files.packfile import BETWEEN

    metadata = graph_metadata(choices())
    members, chains, rows, alike, by_ca = [], [], [], {}, []
    columns = metadata["edge_columns"]
    contact, clash = columns.index("contact"), columns.index("atom_pairs_0_2.5")
    for path in sorted((work / "parts").glob(f"{dataset}__*.pkl")):
        target = path.stem.split("__", 1)[1]
        content = pickle.loads(path.read_bytes())
        chains += content["chains"]
        if content["alike"] is not None:
            alike[dataset, target] = content["alike"]
        for found in content["graphs"]:
            graph = Graph(
                x=found["x"],
                edge_index=found["edge_index"],
                edge_attr=found["edge_attr"],
                y=float(found["y"]),
                metadata=metadata,
                edge_y=found["by_area"],
                residues=BETWEEN.join(found["residues"]),
            )
            name = found["decoy"]
            member = Member(
                target,
                name,
                "",
                path,
                f"{target}/{name}",
                None,
                "by area",
                lambda graph=graph: graph,
            )
            members.append(member)
            by_ca.append(found["by_ca"])
            number = (
                np.square(found["edge_attr"][:, [contact, clash]].astype(float)).sum(
                    axis=0
                )
                / 2
            )
            row = {
                "dataset": dataset,
                "target": target,
                "decoy": name,
                "group": content["group"],
            }
            row |= {"dockq": found["y"], "touching": number[0] - 5 * number[1]}
            row |= {key: found[key] for key in ("n_interface_residues", "n_chains")}
            rows.append(row)
    out = work / dataset
    out.mkdir(exist_ok=True)
    write_pack(out / "graphs.safetensors", members)
    numbers, description = described.mapped(out / "graphs.safetensors")
    numbers = {**numbers, "edge_y": np.concatenate(by_ca)}
    other = work / "ca" / dataset
    other.mkdir(parents=True, exist_ok=True)
    text = {described.KEY: described.as_text(description)}
    save_file(
        {k: np.ascontiguousarray(v) for k, v in numbers.items()},
        other / "graphs.safetensors",
        text,
    )
    return chains, pd.DataFrame(rows), alike


# ---- networks ------------------------------------------------------------------------------------

SEEDS = (222, 777, 1337)
EPOCHS = 18


def jobs(network: str) -> list[dict]:
    """Networks in the order in which they are trained.

    sources, fold : what they do not see. quality : of contacts, by shared areas or CA atoms.
    natives : share of those with poses.
    """
    if network == "contacts":
        return contact_jobs()
    if network == "curve":
        return curve_jobs()
    found = []

    def add(**job) -> None:
        found.append({"quality": "area", "seed": SEEDS[0], "natives": 1.0, **job})

    judged = ("docked", "af2-boltz")
    add(sources=NEW_SOURCES)
    add(sources=NEW_SOURCES, quality="ca")
    for seed in SEEDS[1:]:
        add(sources=NEW_SOURCES, seed=seed)
    for source in judged:
        add(sources=(source,))
        add(sources=(source,), quality="ca")
    for natives in (0.25, 0.5):
        add(sources=NEW_SOURCES, natives=natives)
    for fold in range(5):
        add(fold=fold)
    for source in sorted(set(GROUPS.values()) - set(judged)):
        add(sources=(source,))
    for seed in SEEDS[1:]:
        for fold in range(5):
            add(fold=fold, seed=seed)
        for source in sorted(GROUPS.values()):
            add(sources=(source,), seed=seed)
    return found


def contact_jobs() -> list[dict]:
    """Networks of contacts: of each source and fold, then with other seeds."""
    found = []
    for seed in SEEDS:
        job = {"network": "contacts", "quality": "ca", "seed": seed, "natives": 1.0}
        for source in sorted(GROUPS.values()):
            found.append({**job, "sources": (source,)})
        for fold in range(5):
            found.append({**job, "fold": fold})
    return found


def curve_jobs() -> list[dict]:
    """Networks of contacts that did not see a source, by the share of natives with poses."""
    found = []
    for seed in SEEDS:
        for natives in (1.0, 0.5, 0.25, 0.0):
            for source in NEW_SOURCES:
                job = {"network": "contacts", "quality": "ca", "seed": seed}
                found.append({**job, "natives": natives, "sources": (source,)})
    return found


def job_name(job: dict) -> str:
    what = "+".join(job["sources"]) if "sources" in job else f"fold{job['fold']}"
    name = f"{what}_{job['quality']}_{job['natives']:g}_{job['seed']}"
    return f"{job['network']}_{name}" if "network" in job else name


def train_one(work: Path, out: Path, job: dict, accelerator: str) -> str:
    """Train a network, and write what it says of the decoys that it has not seen."""
    import torch

    from toporank.files.packfile import Pack
    from toporank.learning.hardware import Hardware
    from toporank.learning.hyperparameters import Hyperparameters, Selection
    from toporank.learning.run import Run
    from toporank.learning.train import TrainingGraphs, train_run
    from toporank.learning.weights import network_bytes

    begin = time.time()
    torch.set_num_threads(1)
    Pack.verify = lambda pack: None  # they were written a minute ago
    name = job_name(job)
    folder = work / "runs" / name
    folder.mkdir(parents=True, exist_ok=True)
    packs = work / "ca" if job["quality"] == "ca" else work
    splits = pd.read_csv(work / "splits.csv", dtype={"target": str, "cluster": str})
    splits = splits.astype({"fold": "Int64"})
    sources, fold = job.get("sources", ()), job.get("fold")
    datasets = sorted(set(splits["dataset"]) - set(sources))
    if sources:
        touched = splits.loc[splits["dataset"].isin(sources), "cluster"].unique()
        splits.loc[splits["cluster"].isin(touched), "fold"] = fold = 99
    is_sampled = splits["dataset"] == "sampled"
    if job["natives"] < 1:
        ids = splits.loc[is_sampled, "target"].sample(frac=1, random_state=3)
        kept = set(ids[: int(job["natives"] * len(ids))])
        splits = splits[~is_sampled | splits["target"].isin(kept)]
        datasets = [name for name in datasets if kept or name != "sampled"]
    splits.to_csv(folder / "splits.csv", index=False)
    own = {"local_weight": 1.0}
    if "network" in job:
        own = {"network": job["network"], "hidden": 64, "local_weight": 4.0}
    hyperparameters = Hyperparameters(
        **own,
        batch_size=args_of["batch"],
        accumulate=1,
        heads=4,
        max_epochs=args_of["epochs"],
        early_stop_patience=6,
        plateau_patience=2,
        learning_rate=args_of["rate"],
        weight_decay=0.001,
        loss="bce",
        dropout=0.1,
        sampling="cluster_balanced",
    )
    run = Run(
        name=job.get("network", "local"),
        seed=job["seed"],
        hyperparameters=hyperparameters,
        selection=Selection(),
        parent=None,
        hardware=Hardware(trainer={"accelerator": accelerator, "devices": 1}),
    )
    graphs = TrainingGraphs(
        packs=[packs / dataset / "graphs.safetensors" for dataset in datasets],
        splits=folder / "splits.csv",
        fold=fold,
        chains=[work / dataset / "chains.csv" for dataset in datasets],
    )
    summary = train_run(
        run, graphs, threads=1, output=folder / "run", store=folder / "store"
    )
    trained = time.time() - begin
    checkpoint = folder / "run/best_loss.ckpt"
    content = network_bytes(checkpoint)
    (out / "networks").mkdir(parents=True, exist_ok=True)
    (out / f"networks/{name}.safetensors").write_bytes(content)
    predict(work, out, job, splits, name)
    return f"{name}: {summary['epochs']} epochs, {trained:.0f} + {time.time() - begin - trained:.0f} s, loss {summary['best_loss']['val_loss']:.4f}"


def predict(work: Path, out: Path, job: dict, splits: pd.DataFrame, name: str) -> None:
    """What a network says of the decoys of its fold or source."""
    from toporank.files.packfile import PackedGraphs
    from toporank.learning.inference import open_network, predict_all

    network = open_network(out / f"networks/{name}.safetensors")[0]
    unseen = splits[splits["fold"] == job.get("fold", 99)]
    unseen = set(zip(unseen["dataset"], unseen["target"], strict=True))
    parts = []
    for dataset in job.get("sources", GROUPS.values()):
        path = work / dataset / "graphs.safetensors"
        if not path.exists():
            continue
        store = PackedGraphs.open([path])
        chosen = np.flatnonzero(
            [(dataset, target) in unseen for target in store.target]
        )
        if not len(chosen):
            continue
        some = store.some(chosen)
        found = predict_all([network], some)[0]
        table = pd.DataFrame(
            {"dataset": dataset, "target": some.target, "decoy": some.decoy}
        )
        table["network"] = found.score
        table["local"] = found.local
        parts.append(table)
    (out / "predictions").mkdir(parents=True, exist_ok=True)
    if parts:
        pd.concat(parts).to_csv(out / f"predictions/{name}.csv", index=False)


def said(args: argparse.Namespace) -> None:
    """Put what networks of contacts say of unseen decoys into docs/scorer/predictions.csv.gz."""
    table = pd.read_csv(transfer.PREDICTIONS, dtype=transfer.TEXT)
    names = {"contacts": "fold*", "contacts_without": "[!f]*"}
    names["contacts_one_without"] = f"[!f]*_{SEEDS[0]}"
    for column, name in names.items():
        paths = sorted((args.out / "predictions").glob(f"contacts_{name}.csv"))
        found = pd.concat([pd.read_csv(path, dtype=transfer.TEXT) for path in paths])
        mean = found.groupby(transfer.KEYS)["network"].mean().rename(column)
        table = table.drop(columns=column, errors="ignore")
        table = table.merge(mean.reset_index(), on=transfer.KEYS, how="left")
    transfer.write(transfer.with_means(table))


args_of = {"batch": 64, "epochs": EPOCHS, "rate": 0.003}


def set_args(values: dict) -> None:
    args_of.update(values)


def train(args: argparse.Namespace) -> None:
    work, out = args.work, args.out
    args_of.update(epochs=args.epochs, batch=args.batch, rate=args.rate)
    begin = time.time()
    for name in ("decoys.csv", "splits.csv", "alike.npz"):
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_bytes((work / name).read_bytes())
    todo = []
    for job in jobs(args.network):
        if not (out / f"predictions/{job_name(job)}.csv").exists():
            todo.append(job)
    todo = todo[: args.most or None]
    context = multiprocessing.get_context("spawn")
    accelerator = "gpu" if args.gpu else "cpu"
    with ProcessPoolExecutor(
        args.at_once, mp_context=context, initializer=set_args, initargs=(args_of,)
    ) as pool:
        running = {}
        for job in todo:
            running[pool.submit(train_one, work, out, job, accelerator)] = job
        while running and time.time() < args.until:
            finished, _ = wait(running, timeout=0.5, return_when=FIRST_COMPLETED)
            for future in finished:
                job = running.pop(future)
                try:
                    print(f"{time.time() - begin:.0f} s: {future.result()}", flush=True)
                except Exception:  # noqa: BLE001 -- a job: it is printed, the others go on
                    print(job_name(job), traceback.format_exc()[-1500:], flush=True)
        for future in running:
            future.cancel()
        print(f"{time.time() - begin:.0f} s: {len(running)} networks left", flush=True)
        for process in list(pool._processes.values()):
            process.kill()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    steps = parser.add_subparsers(dest="step", required=True)
    one = steps.add_parser("build")
    one.add_argument("inputs", type=Path)
    one.add_argument("work", type=Path)
    one.add_argument("--cores", type=int, default=CORES)
    one.add_argument("--rotations", type=int, default=ROTATIONS)
    one.add_argument("--residues", type=int, default=RESIDUES)
    poses = steps.add_parser("haddock")
    poses.add_argument("poses", type=Path)
    poses.add_argument("work", type=Path)
    poses.add_argument("--cores", type=int, default=CORES)
    other = steps.add_parser("train")
    other.add_argument("work", type=Path)
    other.add_argument("out", type=Path)
    other.add_argument("--at-once", type=int, default=6)
    other.add_argument("--epochs", type=int, default=EPOCHS)
    other.add_argument("--batch", type=int, default=64)
    other.add_argument("--rate", type=float, default=0.003)
    other.add_argument(
        "--network", choices=["gatv2", "contacts", "curve"], default="gatv2"
    )
    other.add_argument("--gpu", action="store_true")
    joined = steps.add_parser("said")
    joined.add_argument("out", type=Path)
    for step in (one, other):
        step.add_argument("--until", type=float, default=float("inf"))
        step.add_argument(
            "--most", type=int, default=0, help="targets, or networks, for a try"
        )
    args = parser.parse_args()
    of_step = {"build": build, "haddock": add_haddock, "train": train, "said": said}
    of_step[args.step](args)


if __name__ == "__main__":
    main()
