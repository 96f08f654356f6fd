# What a developer or a first-time user types. `make help` lists it; README.md shows the plain commands.
.DEFAULT_GOAL := help
CORES ?= 2
PYTHON ?= python3
BIN := .venv/bin

.PHONY: help demo demo-training test test-all lint checks types docs golden format bench-features bench-scale bench-capsid bench-training bench-configs bench-sweep bench-network bench-cores bench-gpu bench-comparison bench-page bench-command bench-sampling rulegraph scorer transfer clean dssp

help: ## show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 17

demo: .venv/installed ## score the five models of the embedded example, and say where to look
	@$(BIN)/toporank score resources/example/binder -o results/demo --cores $(CORES)
	@echo
	@echo "Open the page in a browser; the next step is: toporank score FOLDER with your own models"

demo-training: .venv/installed ## train, select and score on the embedded example, in minutes
	@$(BIN)/snakemake --cores $(CORES) --quiet rules reason host -- all
	@echo
	@echo "Ranked models:  results/scores/example/models.csv"
	@echo "Page:           results/report.html"

# One process more than cores: tests of Slurm, of browsers and of kills wait most of their time.
WORKERS ?= $(shell expr $(CORES) + 1)
PYTEST = $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --durations=25
test: .venv/installed-dev dssp ## run the tests but those marked `slow`, in minutes
	$(PYTEST) -m "not slow"

test-all: .venv/installed-dev dssp ## run every test
	$(PYTEST)

lint: checks types docs ## check style, formatting, types, the workflow and the floors

checks: .venv/packages-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check .
	$(BIN)/snakemake --lint
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -q tests/unit/test_style.py

types: .venv/packages-dev
	$(BIN)/mypy

docs: .venv/packages-dev ## build the documentation site into site/, without a network; a link to nowhere is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

pages: .venv/installed-dev ## make again what README.md and docs/ show: output, page, figures, notebook
	$(BIN)/python tests/shown_scores.py
	PYTHONPATH=lib $(BIN)/python tests/shown_page.py
	PYTHONPATH=lib $(BIN)/python docs/figures.py
	PYTHONPATH=lib $(BIN)/python docs/notebook.py

golden: .venv/installed-dev ## write the answers in tests/golden/ again; look at what changed
	PYTHONPATH=lib:tests $(BIN)/python tests/golden.py

rulegraph: .venv/installed ## draw the rules again, as docs/rulegraph.svg; needs Graphviz
	$(BIN)/snakemake --rulegraph --config workflow="{jobs: artefact}" 2> /dev/null | dot -Tsvg > docs/rulegraph.svg

format: .venv/packages-dev ## format Python and Snakemake files
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/snakefmt .

bench-features: .venv/installed-dev dssp ## time the features, stage by stage; DECOYS=folder for your own
	OMP_NUM_THREADS=1 PYTHONPATH=lib:tests $(BIN)/python benchmarks/bench_features.py $(DECOYS)

bench-scale: .venv/installed-dev ## measure what many decoys cost Snakemake; DECOYS=1000, 10000 or 100000
	PYTHONPATH=lib:tests/slurm $(BIN)/python benchmarks/bench_scale.py $(if $(DECOYS),--decoys $(DECOYS))

bench-capsid: .venv/installed-dev ## CPU seconds and memory of scoring a capsid of 120 chains
	PYTHONPATH=lib:tests $(BIN)/python benchmarks/bench_capsid.py --radius 110 130 150 --cores $(CORES)

bench-training: .venv/installed-dev ## time training against plain PyTorch Geometric, on the example
	$(BIN)/snakemake --cores $(CORES) --quiet rules reason host -- build_graphs
	PYTHONPATH=lib $(BIN)/python benchmarks/bench_training.py --packs results/example/graphs.safetensors

bench-configs: .venv/installed-dev ## train two configurations, A='{…}' and B='{…}' in YAML; PACK=graphs.safetensors of your own
	$(if $(PACK),,$(BIN)/snakemake --cores $(CORES) --quiet rules reason host -- build_graphs)
	PYTHONPATH=lib:benchmarks $(BIN)/python benchmarks/bench_configs.py --packs $(or $(PACK),results/example/graphs.safetensors) --a '$(A)' --b '$(B)'

bench-sweep: .venv/installed-dev ## time a sweep against its runs one after another; WORK=folder
	PYTHONPATH=lib $(BIN)/python benchmarks/bench_sweep.py --work $(or $(WORK),results/benchmarks/sweep) --cores $(CORES)

bench-network: .venv/installed-dev ## time one step of the network against plain PyTorch Geometric; PACK=graphs.safetensors of your own
	PYTHONPATH=lib $(BIN)/python benchmarks/bench_network.py $(PACK)

bench-cores: .venv/installed-dev ## time one step of the network by number of threads; PACK=graphs.safetensors of your own
	PYTHONPATH=lib $(BIN)/python benchmarks/bench_cores.py $(PACK)

bench-gpu: .venv/installed-dev ## time training on a GPU, end to end, against PyTorch Geometric; PACK=graphs.safetensors
	PYTHONPATH=lib $(BIN)/python benchmarks/bench_gpu.py $(PACK)

bench-comparison: .venv/installed-dev ## time the comparison of the decoys of a target; DECOYS=1000
	PYTHONPATH=lib $(BIN)/python benchmarks/bench_comparison.py $(if $(DECOYS),--decoys $(DECOYS))

bench-page: .venv/installed-dev ## time how a browser opens and filters pages of 1, 100 and 1,000 targets
	PYTHONPATH=lib:tests:tests/unit $(BIN)/python benchmarks/bench_page.py

bench-command: .venv/installed-dev ## CPU seconds of `toporank score` against those of importing its libraries
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/bench_command.py

bench-sampling: .venv/installed-dev ## sample natives and measure the decoys; NATIVES=folder PARTNERS=table
	OMP_NUM_THREADS=1 PYTHONPATH=lib $(BIN)/python benchmarks/bench_sampling.py $(NATIVES) $(PARTNERS)

scorer: .venv/installed-dev ## make resources/scorer/ again, as results/scorer/, from the decoys in FIRST, SECOND and FOURTH=folder
	$(BIN)/python $(FIRST)/make_decoys.py --natives $(FIRST)/natives --out data/moved
	$(BIN)/python benchmarks/scorer_decoys.py $(FIRST) $(SECOND) $(FOURTH) data/moved data
	$(BIN)/python benchmarks/scorer_natives.py $(FIRST) $(SECOND) data/sampled
	OMP_NUM_THREADS=1 $(BIN)/snakemake --cores $(CORES) --configfile config/scorer.yaml --quiet rules reason host -- sample_decoys
	OMP_NUM_THREADS=1 $(BIN)/snakemake --cores $(CORES) --configfile config/scorer.yaml --quiet rules reason host -- make_scorer

transfer: .venv/installed-dev ## judge the scorer on sources that nothing was fitted to, after make scorer: docs/scorer/transfer.csv
	OMP_NUM_THREADS=1 PYTHONPATH=lib $(BIN)/python benchmarks/networks_without.py . --at-once $(CORES)
	PYTHONPATH=lib $(BIN)/python benchmarks/transfer.py . --trees docs/scorer/trees.csv.gz

clean: ## remove everything the workflow made, the reuse store included
	rm -rf results logs .toporank .snakemake

.venv/packages: requirements.txt requirements-train.txt constraints.txt pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --no-compile -r requirements-train.txt
	@touch $@

.venv/packages-dev: .venv/packages requirements-dev.txt
	$(BIN)/python -m pip install --quiet --no-compile -r requirements-dev.txt
	@touch $@

.venv/installed: .venv/packages
	@$(BIN)/python -m toporank compile
	@touch $@

.venv/installed-dev: .venv/installed .venv/packages-dev
	@touch $@

# mkdssp does not come from the Python package index. Only `nodes: {dssp: mkdssp}` and what compares with it need it.
dssp:
	@command -v mkdssp > /dev/null || workflow_scripts/install_dssp.sh || echo "Tests that need mkdssp are left out."
