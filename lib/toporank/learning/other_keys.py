"""What to write for keys of earlier versions and other programs, and for keys in another place."""

from __future__ import annotations

from toporank.learning.hardware import Hardware

IN_TRAINER = "give it to Lightning: training.trainer: {%s: …}"
OF_TRAINING_ITSELF = "it is a key of training itself: training: {%s: …}"
IN_SWEEP = "it is a key of training.sweep.configs, training.sweep.defaults or a phase"
ENTRIES = (
    *("accelerator", "devices", "strategy", "precision", "profiler", "fast_dev_run"),
    "gradient_clip_val",
)
"""Entries of Lightning's `Trainer` that people write elsewhere."""

EVERYWHERE = {
    **{entry: IN_TRAINER % entry for entry in ENTRIES},
    "gradient_clip": IN_TRAINER % "gradient_clip_val",
    "validate_every": IN_TRAINER % "check_val_every_n_epoch",
    "accumulate_grad_batches": "it is accumulate",
    "epochs": "it is max_epochs",
    "flash_attention": "a node attends over its edges alone: docs/training-speed.md",
    "lr": "it is learning_rate",
    "lr_scheduler": "the learning rate falls where val_loss does not: plateau_patience, "
    "plateau_factor",
    "non_blocking": "copies do not wait with training: {pin_memory: true}",
    "optimizer": "it is Adam: learning_rate, weight_decay, training.fused_optimizer",
    "patience": "it is early_stop_patience or plateau_patience",
    "persistent_workers": "workers start anew with each epoch, whose order is drawn then",
    "resume_from": "start a phase of training.finetune with `parent: FILE`; an interrupted run "
    "goes on anyway",
    "val_batch_size": "it is always four times batch_size",
}
OF_A_CONFIGURATION = {
    **{key: OF_TRAINING_ITSELF % key for key in Hardware.model_fields},
    **EVERYWHERE,
    "ranking_term": "gone: it did not help on docked models, docs/research/study.md",
    "ranking_weight": "gone with ranking_term",
    "ranking_every": "gone with ranking_term",
    "decoys_per_target": "gone with ranking_term",
}
OF_TRAINING = {
    **EVERYWHERE,
    "hardware": "its keys are in training, and those of Lightning in training.trainer",
}
