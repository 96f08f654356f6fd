"""One feature stage over many decoys: plans, reuse by content, statuses, coverage."""
