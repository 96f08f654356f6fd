"""How the output folders of predictors are read: a table of docs/research/file-cases.md, tried by
test_layouts.py.
"""

from __future__ import annotations

from typing import NamedTuple


class Layout(NamedTuple):
    """Files below the folder that is given, the decoys they make by target, and those that are not
    read.
    """

    program: str
    folder: str
    happens: str
    files: tuple[str, ...]
    decoys: dict[str, tuple[str, ...]]
    passed_over: tuple[str, ...] = ()


MULTIMER = "unrelaxed_rank_001_alphafold2_multimer_v3_model_1_seed_000"
LAYOUTS = [
    Layout(
        "AlphaFold Server",
        "an unpacked job, or the folder of several",
        "each job is a target; its templates are not read, with a message",
        ("fold_x_model_0.cif", "fold_x_model_1.cif", "fold_x_summary_confidences_0.json", "templates/fold_x_hit_0.cif"),
        {"given": ("fold_x_model_0", "fold_x_model_1")},
        ("templates/fold_x_hit_0.cif",),
    ),
    Layout(
        "AlphaFold 3",
        "the folder of all jobs",
        "each job is a target, and each of its samples a decoy; so is the copy of the best, "
        "`<job>_model.cif`",
        (
            "hello_fold/hello_fold_model.cif",
            "hello_fold/seed-12_sample-0/hello_fold_seed-12_sample-0_model.cif",
            "hello_fold/seed-12_sample-1/hello_fold_seed-12_sample-1_model.cif",
            "hello_fold/seed-12_sample-1/hello_fold_seed-12_sample-1_confidences.json",
            "other/seed-12_sample-0/other_seed-12_sample-0_model.cif",
        ),
        {
            "hello_fold": (
                "hello_fold_model", "hello_fold_seed-12_sample-0_model", "hello_fold_seed-12_sample-1_model",
            ),
            "other": ("other_seed-12_sample-0_model",),
        },
    ),
    Layout(
        "AlphaFold 3, early versions",
        "the same, or the folder of one job",
        "the same; decoys are called like `seed-1_sample-0_model`",
        ("seed-1_sample-0/model.cif", "seed-1_sample-1/model.cif", "job_model.cif", "ranking_scores.csv"),
        {"given": ("job_model", "seed-1_sample-0_model", "seed-1_sample-1_model")},
    ),
    Layout(
        "AlphaFold 3, compressed",
        "the same",
        "the same; so `--compress_large_output_files` leaves them",
        ("one/one_model.cif.zst", "one/seed-1_sample-0/one_seed-1_sample-0_model.cif.zst"),
        {"one": ("one_model", "one_seed-1_sample-0_model")},
    ),
    Layout(
        "AlphaFold-Multimer",
        "`--output_dir`",
        "each complex is a target; the `ranked_` files are copies of others, and mmCIF files "
        "copies of PDB files",
        ("cplx/ranked_0.pdb", "cplx/unrelaxed_model_1_multimer_v3_pred_0.pdb", "cplx/msas/A/pdb_hits.sto"),
        {"cplx": ("ranked_0", "unrelaxed_model_1_multimer_v3_pred_0")},
    ),
    Layout(
        "Boltz",
        "`predictions`, in the output folder",
        "each input is a target",
        (
            "one/one_model_0.cif", "one/confidence_one_model_0.json", "one/one_model_1.cif", "two/two_model_0.pdb",
            "two/confidence_two_model_0.json",
        ),
        {"one": ("one_model_0", "one_model_1"), "two": ("two_model_0",)},
    ),
    Layout(
        "Boltz",
        "the output folder",
        "the same",
        ("predictions/one/one_model_0.cif", "processed/manifest.json", "processed/structures/one.cif"),
        {"one": ("one_model_0",)},
        ("processed/structures/one.cif",),
    ),
    Layout(
        "Chai-1",
        "the folder of all output folders",
        "each output folder is a target",
        ("one/pred.model_idx_0.cif", "one/pred.model_idx_1.cif", "one/scores.model_idx_0.npz"),
        {"one": ("pred.model_idx_0", "pred.model_idx_1")},
    ),
    Layout(
        "Chai-1",
        "an output folder with several trunk samples",
        "it is one target",
        ("trunk_0/pred.model_idx_0.cif", "trunk_1/pred.model_idx_0.cif"),
        {"given": ("trunk_0_pred.model_idx_0", "trunk_1_pred.model_idx_0")},
    ),
    Layout(
        "ColabFold",
        "the output folder",
        "each query is a target; templates are not read, with a message; recycles are "
        "`intermediate`",
        (
            f"barnase_barstar_{MULTIMER}.pdb",
            f"barnase_barstar_{MULTIMER.replace('unrelaxed', 'relaxed')}.pdb",
            "other_unrelaxed_model_1_rank_1.pdb",
            "last_unrelaxed_alphafold2_multimer_v3_model_1_seed_000.pdb",
            "other_env/templates_101/1abc.cif",
        ),
        {
            "barnase_barstar": (
                f"barnase_barstar_{MULTIMER.replace('unrelaxed', 'relaxed')}", f"barnase_barstar_{MULTIMER}",
            ),
            "last": ("last_unrelaxed_alphafold2_multimer_v3_model_1_seed_000",),
            "other": ("other_unrelaxed_model_1_rank_1",),
        },
        ("other_env/templates_101/1abc.cif",),
    ),
    Layout(
        "HADDOCK3",
        "a run, the folder of several, or one step, such as `4_seletopclusts`",
        "the models of the last step that has some are one target; earlier steps are not read, "
        "with a message",
        ("cluster_1_model_1.pdb.gz", "cluster_1_model_2.pdb.gz", "io.json"),
        {"given": ("cluster_1_model_1", "cluster_1_model_2")},
    ),
    Layout(
        "OpenFold3",
        "the output folder",
        "each query is a target, with the samples of all its seeds",
        ("q/seed_42/q_seed_42_sample_1_model.cif", "q/seed_43/q_seed_43_sample_1_model.cif", "experiment_config.json"),
        {"q": ("q_seed_42_sample_1_model", "q_seed_43_sample_1_model")},
    ),
    Layout(
        "Protenix",
        "the output folder",
        "each input is a target, with the samples of all its seeds",
        (
            "one/seed_101/predictions/one_seed_101_sample_0.cif",
            "one/seed_102/predictions/one_seed_102_sample_0.cif",
            "one/seed_102/predictions/one_seed_102_summary_confidence_sample_0.json",
            "two/seed_101/predictions/two_sample_0.cif",
        ),
        {"one": ("one_seed_101_sample_0", "one_seed_102_sample_0"), "two": ("seed_101_two_sample_0",)},
    ),
    Layout(
        "anything else",
        "a folder of `<target>/<decoy>` files, or of `<decoy>` files, at any depth",
        "what lies below a target's folder is of this target, called `<folder>_<decoy>`; files "
        "that are compressed"
        " otherwise than by gzip, bzip2, xz or Zstandard are counted, one is named, and none is "
        "read",
        ("T/a.pdb", "T/b.cif.7z", "T/c.bcif", "T/more/d.pdb", "T/f.pdb1.gz", "T/a.txt", "T/.e.pdb", "T/.hid/f.pdb"),
        {"T": ("a", "f", "more_d")},
        ("T/b.cif.7z", "T/c.bcif"),
    ),
]  # fmt: skip


PARTS = [
    ("Boltz", ("predictions/one/one_model_0.cif", "processed/x.npz", "lightning_logs/v/h.yaml"), "predictions"),
    ("HADDOCK3", ("0_topoaa/a.pdb", "1_rigidbody/rigidbody_1.pdb.gz", "2_emref/emref_1.pdb.gz", "3_caprieval/c.tsv",
                  "analysis/3_caprieval_analysis/report.html", "data/0_topoaa/a.pdb"), "2_emref"),
    ("HADDOCK3", ("9_flexref/flexref_1.pdb", "10_seletopclusts/cluster_1_model_1.pdb"), "10_seletopclusts"),
    ("HADDOCK 2", ("begin/a.pdb", "structures/it0/complex_1.pdb", "structures/it1/complex_1.pdb",
                   "structures/it1/water/complex_1w.pdb"), "structures/it1/water"),
    ("AlphaFold 3", ("job/seed-1_sample-0/model.cif",), "."),
    ("anything else", ("deep/down/T/a.pdb", "deep/down/T/b.pdb"), "deep/down"),
]  # fmt: skip
"""Program, files of its output folder, and the part that the command takes."""


def markdown() -> list[str]:
    """Lines of the section."""
    rows = [f"| {each.program} | {each.folder} | {each.happens} |" for each in LAYOUTS]
    head = [
        "## Where the files lie\n",
        "| of | folder to give | what happens |",
        "| --- | --- | --- |",
    ]
    return [*head, *rows, "", FURTHER]


FURTHER = """\
Folders of what a predictor was given (`templates`, `msas`, `processed`, `…_env`), hidden files and results of
TopoRank are not read. Files without an ending, or with one that says nothing (`H1106TS001_1` of CASP, `complex.12` of
ZDOCK, `model.pdb.txt`), are read if their content is PDB or mmCIF.

The command `score` also unpacks zip and tar files that lie beside models, or alone in the folder, and archives in
these; each is a job. It names one that cannot be unpacked, with the reason, and scores the others. It leaves alone one
whose files lie beside it unpacked. A data set of a configuration names archives and unpacks none.
"""
