"""What the report promises: counts that add up, nothing lost, nothing loaded, nothing injected, same bytes."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest

from described_checkpoint import METRICS, write_description
from toporank import layout
from toporank.app.commands.shown import answer
from toporank.building.coverage import CoverageRow, read_coverage, write_coverage
from toporank.comparing.homology.chain_tables import TargetSplit, write_chains, write_splits
from toporank.errors import ConfigError
from toporank.files.spreadsheets import read_rows
from toporank.inputs.confidence.table import Confidence, write_confidence
from toporank.inputs.labels import Label
from toporank.learning.out_of_fold import Prediction, group_metrics, write_metrics
from toporank.learning.selection import CHECKPOINT_OF, leaderboard
from toporank.ranking.evaluation import evaluate
from toporank.ranking.interfaces import write_interfaces
from toporank.ranking.leakage import LeakageRow, write_leakage, write_study_leakage
from toporank.ranking.ranked import Score, ranking, write_ranking
from toporank.report import figures, formatting, learning_curves, run_card
from toporank.report.assessment import confusion
from toporank.report.page import render
from toporank.report.results import Study, read_study, validation_random_pick
from toporank.scorer.manifest import seal
from toporank.scorer.prediction import Estimate
from toporank.structures.identity import Status

SCRIPT = Path(__file__).parents[3] / "workflow_scripts" / "write_report.py"
HOSTILE = "a <script>alert('1')</script> & \"é\" 名"
BEST = tuple(CHECKPOINT_OF.values())
DOCKQ = {"train": (0.9, 0.5, 0.1, 0.3), "val": (0.85, 0.6, 0.2, 0.05)}
PREDICTED = {"train": (0.8, 0.6, 0.1, 0.2), "val": (0.3, 0.7, 0.25, 0.1)}


@dataclass
class Files:
    """Paths of the inputs of one page, below a working directory."""

    coverage: list[Path]
    rankings: list[Path]
    evaluations: list[Path]
    leaderboard: Path | None
    scorer: Path

    def study(self, **changes: object) -> Study:
        return read_study(**{**vars(self), **changes})


class Page(HTMLParser):
    """What a browser would see: ids, text outside scripts, what is loaded, scripts."""

    def __init__(self, html: str):
        super().__init__()
        self.ids, self.loaded, self.scripts, self.texts, self.inside = [], [], [], [], []
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name == "id":
                self.ids.append(value)
            if name in ("src", "href", "xlink:href", "data", "action", "srcset"):
                self.loaded.append(value)
        if tag in ("script", "style"):
            self.inside.append(tag)
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style"):
            self.inside.pop()

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.scripts[-1] += data
        else:
            self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())


def coverage_rows(labelled: bool) -> list[CoverageRow]:
    """Two targets of four decoys that are fine, then one decoy of each other fate, then a label without decoy."""
    rows = [
        (target, name, Status.OK, "graphs", "", dockq if labelled else None, split if labelled else "", 2, 20)
        for target, split in (("1ABC", "train"), ("2XYZ", "val"))
        for name, dockq in zip(("d1", "d2", "d3", "d4"), DOCKQ[split], strict=True)
    ]
    rows += [
        ("1ABC", "apart", Status.NO_INTERFACE, "interface", "closest 28.0 Å", None, "", 2, None),
        ("1ABC", "broken", Status.UNREADABLE, "interface", "line 3 has no coordinates", None, "", None, None),
        ("2XYZ", HOSTILE, Status.FAILED, "nodes", f"reason {HOSTILE}", None, "", 3, 12),
    ]
    if labelled:
        rows.append(("2XYZ", "gone", Status.NO_DECOY, "", "no such file", 0.4, "val", None, None))
    return sorted(CoverageRow(*row, "decoys/x.pdb") for row in rows)


def scores(coverage: list[CoverageRow]) -> list[Score]:
    """Predictions for the decoys that have a graph, in the order of `PREDICTED`."""
    graphs = [row for row in coverage if row.status == Status.OK]
    predicted = [*PREDICTED["train"], *PREDICTED["val"]]
    return [Score(row.target, row.decoy, value, 0.05) for row, value in zip(graphs, predicted, strict=False)]


def labels_of(coverage: list[CoverageRow]) -> list[Label]:
    return [Label(row.target, row.decoy, row.dockq, row.split) for row in coverage if row.dockq is not None]


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def write_dataset(name: str, coverage: list[CoverageRow]) -> tuple[Path, Path, Path]:
    """coverage.tsv, ranking.csv and summary.json of a data set, where the workflow puts them."""
    table, labels = ranking(coverage, scores(coverage)), labels_of(coverage)
    paths = Path(f"results/{name}/coverage.tsv"), Path(f"results/scores/{name}/ranking.csv")
    write_coverage(paths[0], coverage)
    write_ranking(paths[1], table)
    summary = json.dumps(evaluate(table, labels)[1]) if labels else "{}"
    return *paths, write(Path(f"results/evaluation/{name}/summary.json"), summary)


def write_leaderboard() -> Path:
    """Two seeds of one configuration and a fine-tune, which wins."""
    summaries = []
    for place, folder in enumerate(("finetune/phase1", "training/small_seed1", "training/small_seed2")):
        best = {"epoch": place, **METRICS, "val_loss": 0.07 + place / 100}
        run = {"run": Path(folder).name, "seed": max(1, place), "epochs": 3, "stopped": "",
               "parent": None if place else {"run": "small_seed1", "epoch": 1},
               **dict.fromkeys(BEST, best)}  # fmt: skip
        summaries.append(write(Path("results", folder, "summary.json"), json.dumps(run)))
        epochs = pd.DataFrame({"epoch": range(3), "learning_rate": [0.1, 0.1, 0.01], "train_loss": 0.1, **METRICS})
        write(Path("results", folder, "metrics.csv"), epochs.to_csv(index=False))
    return write(Path("results/final/leaderboard.csv"), leaderboard(summaries, "val_loss").to_csv(index=False))


def write_checkpoint() -> Path:
    """A file with the description of a checkpoint, and nothing else of one."""
    features = {"interface": {"module": "interface/ca_cutoff/v1", "cutoff": 10.0}}
    return write_description("results/final/best.ckpt", features=features)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Files:
    """A labelled study of one data set."""
    monkeypatch.chdir(tmp_path)
    coverage, ranked, evaluated = write_dataset("bench", coverage_rows(labelled=True))
    return Files([coverage], [ranked], [evaluated], write_leaderboard(), write_checkpoint())


@pytest.fixture
def scored_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Files:
    """An unlabelled data set scored with an existing checkpoint."""
    monkeypatch.chdir(tmp_path)
    coverage, ranked, _ = write_dataset("models", coverage_rows(labelled=False))
    return Files([coverage], [ranked], [], None, write_checkpoint())


def decoys_of(html: str) -> dict:
    return json.loads(re.search(r'<script type="application/json" id="decoys">(.*?)</script>', html, re.DOTALL)[1])


def test_decoys_in_are_scored_plus_skipped(files: Files) -> None:
    text = Page(render(files.study())).text
    assert "models in 11 = scored 8 + skipped 3 targets 2" in text
    assert "models in 11 = scored 8 + no interface 1 + unreadable 1 + failed 1" in text


def test_coverage_adds_up_for_decoys_and_labels(files: Files) -> None:
    text = Page(render(files.study())).text
    assert "11 decoys = 8 with a result + 1 no interface + 1 unreadable + 1 failed" in text
    assert "9 labels = 8 with a graph + 1 without a decoy" in text
    for row in run_card.coverage(files.study())["rows"]:
        assert row["decoys"] == row["with_graph"] + sum(row["skipped"])
        assert row["labels"] == row["labels_with_graph"] + row["labels_skipped"] + row["labels_without_decoy"]


def test_several_data_sets_have_a_row_each_and_a_total(files: Files) -> None:
    coverage, ranked, evaluated = write_dataset("second", coverage_rows(labelled=True))
    study = files.study(
        coverage=[*files.coverage, coverage],
        rankings=[*files.rankings, ranked],
        evaluations=[*files.evaluations, evaluated],
    )
    rows = run_card.coverage(study)["rows"]
    assert [(row["name"], row["decoys"]) for row in rows] == [("bench", 11), ("second", 11), ("all data sets", 22)]
    assert "targets 4" in Page(render(study)).text  # the same name in two data sets is two targets


def test_every_section_of_a_study(files: Files) -> None:
    sections = {"run", "coverage", "leaderboard", "curves", "evaluation", "scatter", "rankings", "skipped"}
    assert sections <= set(Page(render(files.study())).ids)


def test_what_was_seen_in_training_is_said_of_every_data_set(files: Files) -> None:
    rows = [
        LeakageRow("1ABC", "yes", "1ABC", 1.0, "it is a training target"),
        LeakageRow("2XYZ", "yes", HOSTILE, 0.625, "it shares a chain"),
        LeakageRow("3NEW", "no", "", 0.0, "no training target"),
    ]
    write_leakage("results/scores/bench/leakage.csv", rows)
    page = Page(render(files.study(leakage=[Path("results/scores/bench/leakage.csv")])))
    assert "seen" in page.ids
    assert "3 targets = 2 seen in training + 1 new. Not trained on, and seen all the same: 1 target." in page.text
    assert f"2XYZ yes {HOSTILE} 62 validation 3NEW no 0" in page.text


def test_of_what_was_only_scored_nobody_says_that_it_was_not_trained_on(scored_only: Files) -> None:
    write_leakage("results/scores/models/leakage.csv", [LeakageRow("1ABC", "yes", "1ABC", 1.0, "a training target")])
    text = Page(render(scored_only.study(leakage=[Path("results/scores/models/leakage.csv")]))).text
    assert "1 target = 1 seen in training + 0 new. Targets, each with" in text


@pytest.mark.parametrize(
    ("score", "judge", "tile", "card"),
    [
        (
            "mean",
            False,
            "3 networks",
            "networks mean of 3 networks last word the networks disagreement over 3 networks",
        ),
        ("mean", True, "3 networks and a judge", "networks mean of 3 networks last word the judge"),
        (
            "best",
            False,
            "phase1",
            "networks the checkpoint below last word the networks disagreement over 3 networks",
        ),
        (
            None,
            True,
            "phase1 and a judge",
            "networks the checkpoint below last word the judge Checkpoint run",
        ),
        (None, False, "phase1", "no interface 1 + unreadable 1 + failed 1 Checkpoint run"),
    ],
)
def test_the_scorer_is_shown_as_it_is(scored_only: Files, score, judge, tile, card) -> None:
    """A checkpoint by itself, or several networks, and a judge."""
    folder = scored_only.scorer.parent
    if judge:
        shutil.copy(layout.repository() / "resources/scorer/judge.json", folder)
    if score:
        (folder / "ensemble").mkdir()
        for name in ("a", "b", "c"):
            shutil.copy(scored_only.scorer, folder / f"ensemble/{name}.ckpt")
    if score or judge:
        seal(folder, mean=score == "mean")
    text = Page(render(scored_only.study())).text
    assert f"scored with {tile} " in text
    assert card in text


def test_a_score_page_goes_from_the_answer_to_the_run_card(scored_only: Files) -> None:
    ids = Page(render(scored_only.study())).ids
    sections = [name for name in ids if name in ("answer", "rankings", "coverage", "skipped", "run")]
    assert sections == ["answer", "rankings", "skipped", "coverage", "run"]


def test_a_cross_validation_is_shown_with_its_groups_and_intervals(files: Files) -> None:
    targets = [("A", 0.1), ("B", 0.2), ("C", 0.9)]
    rows = [
        Prediction("tiny", "bench", target, f"{group}{d}", group, target, 0, true, abs(true - shift), None)
        for target, shift in targets
        for group in ("docked", HOSTILE)
        for d, true in enumerate((0.1, 0.4, 0.8))
    ]
    metrics = group_metrics(rows)
    write_metrics("results/folds.csv", metrics)
    page = Page(render(files.study(folds=Path("results/folds.csv"))))
    assert {"folds"} <= set(page.ids)
    (loss,) = (row for row in metrics if (row.group, row.metric) == ("docked", "ranking_loss"))
    assert f"tiny docked 9 3 3 {loss.value:.3f} [{loss.low:.3f}, {loss.high:.3f}]" in page.text
    assert f"tiny {HOSTILE} 9 3 3" in page.text


def test_the_leakage_of_a_study_names_the_data_set(files: Files) -> None:
    row = LeakageRow("2XYZ", "yes", "1ABC", 0.625, "it shares a chain")
    write_study_leakage("results/leakage.csv", {"one": [row], "=two": [row._replace(containment=None)]})
    found = [(read["dataset"], read["target"], read["containment"]) for read in read_rows("results/leakage.csv")]
    assert found == [("one", "2XYZ", "0.625"), ("=two", "2XYZ", "")]


def test_labels_without_split_are_shown_in_the_one_that_was_decided(files: Files) -> None:
    undecided = [row._replace(split="") for row in coverage_rows(labelled=True)]
    write_coverage(files.coverage[0], undecided)
    write_splits("results/splits.csv", [TargetSplit("bench", "1ABC", "1ABC", "val", 0, "", None)])
    study = files.study(splits=Path("results/splits.csv"))
    found = {(row.target, row.split) for row in study.results if row.dockq is not None}
    assert found == {("1ABC", "val"), ("2XYZ", "test")}


def test_sections_without_input_are_left_out(scored_only: Files) -> None:
    page = Page(render(scored_only.study()))
    assert {"run", "coverage", "rankings", "skipped"} <= set(page.ids)
    assert not {"seen", "folds", "leaderboard", "curves", "evaluation", "scatter"} & set(page.ids)
    assert not [target for target in page.loaded if target.removeprefix("#") not in page.ids]


def test_learning_curves_are_left_out_when_their_tables_are_gone(files: Files) -> None:
    for table in Path("results").rglob("metrics.csv"):
        table.unlink()
    ids = Page(render(files.study())).ids
    assert "leaderboard" in ids
    assert "curves" not in ids


def test_ids_are_unique_and_links_stay_inside(files: Files) -> None:
    page = Page(render(files.study()))
    assert len(page.ids) == len(set(page.ids))
    assert all(target.startswith("#") and target[1:] in page.ids for target in page.loaded)


@pytest.mark.parametrize("many", [10_000, 0], ids=["points", "image"])
def test_nothing_is_loaded(files: Files, monkeypatch: pytest.MonkeyPatch, many: int) -> None:
    monkeypatch.setattr(figures, "MANY_POINTS", many)
    html = render(files.study())
    assert not re.search(r"""(?:src|href|action|data)\s*=\s*["']?\s*(?:\w+:)?//""", html)
    assert not re.search(r"url\(\s*[^#\s]|@import|fetch\(|XMLHttpRequest|import\(", html)
    assert "default-src 'none'" in html


def test_names_and_reasons_cannot_inject(files: Files) -> None:
    html = render(files.study())
    assert "<script>alert" not in html
    assert f"reason {HOSTILE}" in Page(html).text
    assert HOSTILE in decoys_of(html)["targets"][1]["d"]


def test_a_hostile_target_and_data_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    name = "set <b> é"
    rows = [row._replace(target=f"{row.target}<script>alert(1)</script>") for row in coverage_rows(labelled=True)]
    coverage, ranked, evaluated = write_dataset(name, rows)
    html = render(Files([coverage], [ranked], [evaluated], None, write_checkpoint()).study())
    assert "<script>alert" not in html
    assert "set <b>" not in html
    assert "1ABC<script>alert(1)</script>" in Page(html).text
    assert name in Page(html).text


def test_decoys_come_best_predicted_first_and_unscored_ones_last(files: Files) -> None:
    first, second = decoys_of(render(files.study()))["targets"]
    assert first["d"] == ["d1", "d2", "d4", "d3", "apart", "broken"]
    assert first["r"] == [1, 2, 3, 4, 5, None]
    assert first["p"] == [0.8, 0.6, 0.2, 0.1, None, None]
    assert first["P"] == "3200--"
    assert first["Y"] == "3210--"
    assert second["d"] == ["d2", "d1", "d3", "d4", HOSTILE]
    assert second["y"] == [0.6, 0.85, 0.2, 0.05, None]


def test_the_page_of_a_calibrated_scorer_says_how_far_to_trust_it(files: Files) -> None:
    """DockQ of the training decoys is 0.9, 0.5, 0.1, 0.3, of the validation decoys 0.85, 0.6, 0.2, 0.05."""
    coverage = coverage_rows(labelled=True)
    found = scores(coverage)
    trusted = {
        row[:2]: Estimate(row.pred_dockq / 2, row.pred_dockq + 0.05, "far" * (row.decoy == "d4")) for row in found
    }
    table = [row._replace(ranked_by="mean_interface") for row in ranking(coverage, found, estimates=trusted)]
    summary = evaluate(table, labels_of(coverage))[1]
    assert [summary[split]["intervals"] for split in ("train", "val")] == [
        {"n": 4, "level": 0.8, "inside": 0.5}, {"n": 4, "level": 0.8, "inside": 0.75},
    ]  # fmt: skip
    write_ranking(files.rankings[0], table)
    write(files.evaluations[0], json.dumps(summary))
    html = render(files.study())
    first, _ = decoys_of(html)["targets"]
    assert (first["l"], first["h"]) == ([0.4, 0.3, 0.1, 0.05, None, None], [0.85, 0.65, 0.25, 0.15, None, None])
    assert first["m"] == ["", "", "far", "", "", ""]
    text = Page(html).text
    assert "Validation: DockQ is in the 80 % interval of 75 % of 4 models." in text
    assert "2 of 8 models are out of it" in text
    assert "The models of each target, best mean of the interfaces first." in text


def test_the_predictors_confidence_is_a_column_and_a_plot_and_the_page_says_where_the_two_disagree(
    files: Files,
) -> None:
    own = {"d1": 0.9, "d2": 0.2, "d3": 0.3, "d4": 0.4}
    said = [Confidence("2XYZ", name, "Boltz", ranking_score=score) for name, score in own.items()]
    said.append(Confidence("1ABC", "d1", status="incomplete", reason=f"{HOSTILE}.json is no readable json file"))
    table = Path("results/scores/bench/confidence.csv")
    write_confidence(table, said)
    html = render(files.study(confidence=[table]))
    _, second = decoys_of(html)["targets"]
    assert second["q"] == [["ranking score", 3]]
    assert dict(zip(second["d"], second["Q"][0], strict=True)) == {**own, HOSTILE: None}
    text = Page(html).text
    assert "The two disagree on 1 of 2 targets" in text
    assert "the predictor prefers d1 (ranking score 0.9), which is number 2 of 4 here with predicted" in text
    assert f"Not all could be read, of 1 model 1ABC/d1 : {' '.join(HOSTILE.split())}.json" in text
    assert html.count("<circle cx=") == 4
    assert "<script>alert" not in html


def test_without_confidence_there_is_no_word_of_it(files: Files) -> None:
    table = Path("results/scores/bench/confidence.csv")
    write_confidence(table, [])
    assert render(files.study(confidence=[table])) == render(files.study())
    assert "confidence.csv" not in render(files.study())


def test_a_toy_is_called_one(files: Files) -> None:
    assert "Toy: the scorer was trained on 4 decoys only" in Page(render(files.study())).text
    many = {"fingerprint": "0123abcd", "train": 5000, "val": 4}
    path = write_description("elsewhere.ckpt", training_set=many)
    assert "toy" not in Page(render(files.study(scorer=path))).text.lower()


def test_lists_without_a_value_are_not_written(scored_only: Files) -> None:
    assert all({"y", "Y"}.isdisjoint(target) for target in decoys_of(render(scored_only.study()))["targets"])


def test_every_decoy_without_score_stands_with_status_stage_and_reason(files: Files) -> None:
    rows = {row["decoy"]: row for row in run_card.not_scored(files.study())}
    assert set(rows) == {"apart", "broken", HOSTILE, "gone"}
    text = Page(render(files.study())).text
    assert "1ABC broken unreadable interface line 3 has no coordinates" in text
    assert "2XYZ gone label without model no such file" in text


def test_a_sentence_says_that_nothing_was_skipped(scored_only: Files) -> None:
    fine = [row for row in coverage_rows(labelled=False) if row.status == Status.OK]
    coverage, ranked, _ = write_dataset("fine", fine)
    assert "Nothing was skipped" in Page(render(scored_only.study(coverage=[coverage], rankings=[ranked]))).text
    assert "Nothing was skipped" not in Page(render(scored_only.study())).text


def test_a_graph_without_score_is_not_called_scored(scored_only: Files) -> None:
    study = scored_only.study(rankings=[])
    balance = run_card.balance(study.decoys)
    assert (balance["decoys"], balance["scored"], balance["skipped"]) == (11, 0, 11)
    assert formatting.FATES[formatting.NOT_SCORED] in Page(render(study)).text


def test_the_answer_says_of_a_graph_without_score_what_the_page_says(scored_only: Files) -> None:
    """Until then its reason is empty."""
    coverage = [row for row in coverage_rows(labelled=False) if row.status == Status.OK]
    write_ranking(scored_only.rankings[0], ranking(coverage, scores(coverage)[1:]))
    write_coverage(scored_only.coverage[0], coverage)
    for pattern, write_table in (
        (layout.CONFIDENCE, write_confidence),
        (layout.LEAKAGE, write_leakage),
        (layout.SCORED_INTERFACES, write_interfaces),
        (layout.CHAINS, write_chains),
    ):
        write_table(Path(pattern.format(dataset="models")), [])
    lines, _ = answer(Path(), "models")
    assert "1ABC/d1: its graph is there, but no score of it was given" in " ".join(lines)


def test_nothing_scored_and_no_decoy_at_all(scored_only: Files) -> None:
    failed = [row for row in coverage_rows(labelled=False) if row.status != Status.OK]
    coverage, ranked, _ = write_dataset("failed", failed)
    assert "nothing scored" in Page(render(scored_only.study(coverage=[coverage], rankings=[ranked]))).text
    coverage, ranked, _ = write_dataset("empty", [])
    text = Page(render(scored_only.study(coverage=[coverage], rankings=[ranked]))).text
    assert "There is no model to rank" in text
    assert "models in 0 = scored 0 + skipped 0" in text


def test_ranking_loss_stands_beside_that_of_a_random_pick(files: Files) -> None:
    text = Page(render(files.study())).text
    # best of 2XYZ is 0.85, the one ranked first has 0.60, the mean is 0.425
    assert "Ranking loss of the ranking (dot) 0.250 of a random pick (bar) 0.425" in text
    assert validation_random_pick(files.study()) == pytest.approx(0.425)
    assert text.count("ranking loss (random 0.425)") == 4  # under every rule and over the seeds


def test_the_random_pick_is_not_guessed_from_another_validation_set(files: Files) -> None:
    coverage, ranked, _ = write_dataset("other", [row for row in coverage_rows(labelled=True) if row.decoy != "d1"])
    study = files.study(coverage=[coverage], rankings=[ranked], evaluations=[])
    assert validation_random_pick(study) is None
    text = Page(render(study)).text
    assert "ranking loss of a random pick" not in text
    assert "not recorded" not in text


def test_training_targets_are_named_as_memorised(files: Files) -> None:
    text = Page(render(files.study())).text
    assert text.index("Validation 1 target") < text.index("Training memorised 1 target")


def test_a_split_without_any_score(files: Files) -> None:
    summary = {"val": {"n_labels": 9, "n_not_scored": 9}}
    write(files.evaluations[0], json.dumps(summary))
    assert "None of its 9 labels has a score" in Page(render(files.study())).text


def test_constant_predictions_have_no_correlation_and_are_shown_so(files: Files) -> None:
    coverage = read_coverage(files.coverage[0])
    graphs = [Score(row.target, row.decoy, 0.5, None) for row in coverage if row.status == Status.OK]
    table = ranking(coverage, graphs)
    write_ranking(files.rankings[0], table)
    write(files.evaluations[0], json.dumps(evaluate(table, labels_of(coverage))[1]))
    text = Page(render(files.study())).text
    assert f"Spearman per target (dot) {formatting.NOTHING} pooled (diamond) {formatting.NOTHING}" in text
    assert "1 target without a correlation" in text


def test_leaderboard_marks_the_chosen_run_and_sums_up_seeds(files: Files) -> None:
    board = learning_curves.leaderboard(files.study())
    assert [(row["run"], row["kind"], bool(row["chosen"])) for row in board["rows"]] == [
        ("phase1", "fine-tune", True), ("small_seed1", "sweep", False), ("small_seed2", "sweep", False),
    ]  # fmt: skip
    assert {rule: row["rank"] for rule, row in board["rows"][0]["rules"].items()} == {
        "val_loss": 1, "val_selection": 3, "val_ranking_loss": 3,  # in a tie the sweep comes first
    }  # fmt: skip
    small = board["configurations"][1]
    assert (small["name"], small["seeds"]) == ("small", 2)
    assert small["loss"] == pytest.approx((0.085, 0.01 / 2**0.5))


def test_the_page_shows_the_winner_under_each_rule_with_its_regret_and_what_fine_tuning_brought(files: Files) -> None:
    text = Page(render(files.study())).text
    assert "val_loss chosen phase1 0 0.0700" in text
    assert "val_ranking_loss small_seed1 1 0.0800 0.600 0.500 0.100 0.0100 0.000 0.000" in text
    assert "Fine-tuning: fine-tune phase1 beats its parent small_seed1 and is final." in text


def test_the_page_tells_why_a_run_ended_early(files: Files) -> None:
    table = pd.read_csv(files.leaderboard)
    table["stopped"] = table["stopped"].astype(object)
    table.loc[1, "stopped"] = "the training loss is not a finite number in epoch 2, decoys A/d1"
    table.to_csv(files.leaderboard, index=False)
    text = Page(render(files.study())).text
    assert f"{table['run'][1]} ended early: the training loss is not a finite number in epoch 2, decoys A/d1." in text


def test_the_page_holds_the_spread_against_the_error(files: Files) -> None:
    found = json.loads(files.evaluations[0].read_text())["val"]["calibration"]
    text = Page(render(files.study())).text
    assert "The spread over the ensemble (sd) against the error" in text
    assert (
        f"validation 4 {formatting.NOTHING} {100 * found['within_1_sd']:.0f} % {100 * found['within_2_sd']:.0f} %"
        in text
    )


def test_learning_rate_drops_lie_between_epochs() -> None:
    metrics = pd.DataFrame({"epoch": [0, 1, 2, 3], "learning_rate": [0.1, 0.1, 0.01, 0.01]})
    assert figures.learning_rate_drops(metrics) == [1.5]


def test_a_run_that_diverged_can_be_drawn() -> None:
    metrics = pd.DataFrame({
        "epoch": [0, 1], "learning_rate": 0.1, "train_loss": [0.1, float("nan")], "val_loss": [0.1, float("inf")],
        "val_spearman": float("nan"), "val_spearman_per_target": float("nan"),
    })  # fmt: skip
    limits = figures.curve_limits({"run": metrics})
    assert "<svg" in figures.learning_curve("run", metrics, {"val_loss": 0}, *limits)


def test_confusion_counts_every_decoy_once() -> None:
    decoys = pd.DataFrame({"capri": ["high", "high", "incorrect"], "pred_capri": ["high", "medium", "incorrect"]})
    table = {row["name"]: row["cells"] for row in confusion(decoys)}
    assert table["high"] == [(1, 0.5), (1, 0.5), (0, 0.0), (0, 0.0)]
    assert sum(n for cells in table.values() for n, _ in cells) == 3


def test_without_matplotlib_a_sentence_says_how_to_get_the_figures(monkeypatch) -> None:
    monkeypatch.delattr(figures, "matplotlib")
    targets = pd.DataFrame({"split": ["test"], "random_pick_loss": [0.1], "ranking_loss": [0.2]})
    assert figures.loss_against_random("mini", targets) == (
        "<p>This figure needs matplotlib: pip install &#39;toporank[train]&#39;, or -r requirements-train.txt"
        " in a clone.</p>"
    )


def test_figures_follow_the_theme_and_have_a_text_for_the_blind(files: Files) -> None:
    svgs = re.findall(r"<svg class=\"plot\".*?</svg>", render(files.study()), re.DOTALL)
    assert len(svgs) == 3 + 2 + 2  # runs, evaluation, scatter
    assert all('role="img" aria-label="' in svg and "var(--" in svg and "<style" not in svg for svg in svgs)


def test_numbers_are_written_alike() -> None:
    assert formatting.number(-0.4444) == "−0.444"
    assert formatting.number(-0.0001) == "0.000"
    assert formatting.number(None) == formatting.number(float("nan")) == formatting.NOTHING
    assert formatting.interval(0.1, None) == ""
    assert formatting.interval(-0.1, 0.2, 1) == "[−0.1, 0.2]"


def test_a_ranking_without_its_coverage_is_refused(files: Files) -> None:
    with pytest.raises(ConfigError, match="data set bench"):
        files.study(coverage=[write_dataset("other", coverage_rows(labelled=True))[0]])


def command(files: Files, page: str, seed: str) -> str:
    """Run the workflow script; a fresh process with its own order of hashing."""
    arguments = ["--coverage", *files.coverage, "--rankings", *files.rankings, "--evaluations", *files.evaluations]
    arguments += ["--leaderboard", files.leaderboard] if files.leaderboard else []
    arguments += ["--scorer", files.scorer, "--page", page]
    library = str(SCRIPT.parents[1] / "lib")
    environment = {**os.environ, "PYTHONPATH": library, "PYTHONHASHSEED": seed}
    subprocess.run([sys.executable, SCRIPT, *arguments], check=True, env=environment)
    return Path(page).read_text(encoding="utf-8")


def test_same_inputs_same_bytes_and_no_trace_of_the_machine(files: Files, tmp_path: Path) -> None:
    page = command(files, "one.html", "1")
    assert page == command(files, "two.html", "2")
    assert str(tmp_path) not in page
    assert str(SCRIPT.parents[1]) not in page
    assert not re.search(r"\b20\d\d-\d\d-\d\d\b", page)


def test_the_script_writes_the_page_of_a_scored_data_set(scored_only: Files) -> None:
    assert "predicted DockQ" in command(scored_only, "new/report.html", "0").replace("Predicted", "predicted")


def test_the_page_of_a_scored_data_set_needs_little(scored_only: Files) -> None:
    """Neither torch nor what takes half a second to import."""
    code = (
        "import sys; from pathlib import Path; from toporank.report.page import render;"
        "from toporank.report.results import read_study;"
        "render(read_study([Path(sys.argv[1])], [Path(sys.argv[2])], [], None, Path(sys.argv[3])));"
        "print(*{'torch', 'pandas', 'matplotlib', 'scipy', 'numba', 'pyarrow'} & set(sys.modules))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code, scored_only.coverage[0], scored_only.rankings[0], scored_only.scorer],
        capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": str(SCRIPT.parents[1] / "lib")},
    )  # fmt: skip
    assert answer.stdout.split() == []
