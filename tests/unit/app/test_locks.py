"""One run at a time for each data set: who works on what, and what a second process is told."""

from __future__ import annotations

import sys
from subprocess import PIPE, Popen
from types import SimpleNamespace

import pytest

from toporank.app.workflow.runs import claimed, lock

ELSEWHERE = (
    "from pathlib import Path; from toporank.app.workflow.runs import lock; lock({}); print('got "
    "it', flush=True); {}"
)


def other_process(names: str, then: str = "") -> Popen:
    code = ELSEWHERE.format(names, then)
    return Popen(
        [sys.executable, "-c", code], stdin=PIPE, stdout=PIPE, stderr=PIPE, text=True
    )


def test_a_name_belongs_to_one_process_until_it_ends_however_it_ends(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    first = other_process("['mini']", "input()")
    assert first.stdout.readline() == "got it\n"
    said = other_process("['mini', 'other']").communicate()[1]
    assert "another run is working on mini (wait for its end" in said
    assert other_process("['other']").wait() == 0
    first.kill()
    first.communicate()
    lock(["mini"])
    lock(["mini"])  # its own


def test_the_same_name_in_another_folder_is_another_lock(tmp_path):
    lock(["this folder"], tmp_path / "a")
    lock(["this folder"], tmp_path / "b")
    said = other_process(
        f"['this folder'], Path({str(tmp_path / 'b')!r}), 'another folder'"
    ).communicate()[1]
    assert (
        f"{tmp_path / 'b'}: another run is working on this folder (wait for its end, or choose "
        "another fol" in said
    )


def job(rule: str, *output: str, **wildcards: str) -> SimpleNamespace:
    return SimpleNamespace(
        rule=SimpleNamespace(name=rule), output=output, wildcards=Wildcards(**wildcards)
    )


class Wildcards(SimpleNamespace):
    def keys(self):
        return vars(self).keys()


CLAIMS = {
    "coverage": set(),
    "build_chunk dataset chunk": set(),
    "graph dataset decoy": set(),
    "write_coverage dataset": {"mini"},
    "split_labels dataset results/mini/labels.csv": {"mini"},
    "train_sweep run results/training/r/summary.json": {"training"},
    "finetune_phase1 run results/finetune/r/summary.json": {"training"},
    "train_fold fold run results/cross_validation/fold0/r/summary.json": {"training"},
    "predict_folds results/cross_validation/metrics.csv": {"training"},
    "make_scorer results/scorer/scorer.json": {"training"},
    "select_final results/final/best.ckpt": {"training"},
    "split_targets results/splits.csv": {"training"},
    "sample_target target results/sampling/T": {"sampling"},
    "report_study results/report.html results/leakage.csv": set(),
    "a_rule_of_the_user elsewhere.txt": set(),
}
"""Rule, wildcards and outputs of a job → what no other run may work on."""


@pytest.mark.parametrize("line", CLAIMS)
def test_a_run_claims_the_data_sets_it_completes_and_the_training_by_what_it_writes(
    line,
):
    rule, *words = line.split()
    outputs = [word for word in words if "." in word or "/" in word]
    wildcards = dict.fromkeys(set(words) - set(outputs), "mini")
    jobs = [job(rule, *outputs, **wildcards), job("all")]
    assert claimed(SimpleNamespace(needrun_jobs=lambda: jobs)) == CLAIMS[line]
