# One way to do each thing, for people and for CI alike. `make help` lists the targets.
SHELL := /bin/sh
PYTHON ?=
VENV ?= .venv
BIN := $(VENV)/bin

SEEDS ?= 1000
FIRST ?= 0
LIMIT ?= 1000
STATE ?= storm-state.json
WORKERS ?= 5
MINUTES ?= 30
TURNS ?= 50
SEED ?= 1
BROKERS ?= 1
CASES ?= 100000
WORLDS ?= 300
TIMES ?= 10
TOOLS ?= submitit==1.5.4 psij-python==0.9.11 dask-jobqueue==0.9.0 parsl==2026.10.26 \
  snakemake==9.27.1 snakemake-executor-plugin-slurm==2.8.0 aiida-core==2.9.4
DEBFLAGS ?=
RANDOM_TESTS := $(addprefix tests/, access api broker clusters config policy service simulation \
  store submission traces world)
PACKAGED := debian metabroker systemd configs docs tools README.md CHANGELOG.md LICENSE \
  pyproject.toml requirements-lock.txt

.PHONY: help array deb light lock kernel random same-second plans-killed submissions tools same-bytes setup demo test test-releases check storm storm-brokers storm-all storm-kinds storm-mutations fuzz soak federation hostile load clusters-up clusters-down clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

$(BIN)/.ready: pyproject.toml
	sh tools/environment.sh $(VENV) $(PYTHON)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

setup: $(BIN)/.ready ## make the virtual environment

$(BIN)/.installed: pyproject.toml
	sh tools/environment.sh $(VENV) $(PYTHON)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

demo: $(BIN)/.installed ## three simulated clusters, the daemon and a handful of jobs, shown live
	$(BIN)/metabroker demo

# Hundreds of daemons are started: compiling their modules anew each time takes minutes.
test test-releases: export PYTHONDONTWRITEBYTECODE :=

# Tests of daemons mostly wait: each worker has real clusters of its own.
test: setup ## all tests, the real Slurm clusters included, by WORKERS=5 processes
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup

test-releases: setup ## the contract on each release of Slurm by itself (`test`: one cluster of each)
	METABROKER_TEST_RELEASES=all $(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup tests/contract

check: setup ## style, types, import contracts, purity of the core, sizes of files and classes
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/purity.py metabroker/policy metabroker/broker metabroker/prediction
	$(BIN)/python tools/house.py metabroker
	$(BIN)/python tools/house.py --lines tests benchmarks tools

storm: setup ## SEEDS=1000 worlds full of faults, on all cores
	$(BIN)/python -m tests.world.storm --first $(FIRST) --seeds $(SEEDS)

storm-brokers: setup ## the same with two brokers and three that share a store
	$(BIN)/python -m tests.world.storm --several --first $(FIRST) --seeds $(SEEDS)

storm-all: setup ## for a night: SEEDS=1000000 over all kinds of worlds, kept in STATE, from where it ended
	$(BIN)/python -m tests.world.storm --all --first $(FIRST) --seeds $(SEEDS) --state $(STATE) --report $(STATE).md

storm-kinds: setup ## the same, for worlds that are each of a special kind (tests/world/kinds), by turns
	$(BIN)/python -m tests.world.storm --kinds --first $(FIRST) --seeds $(SEEDS) --state $(STATE) --report $(STATE).md

storm-mutations: setup ## plant each deliberate mistake, and see that at most LIMIT=1000 seeds find it
	$(BIN)/python -m tests.world.storm --seeds 20 --mutations $(LIMIT)

fuzz: setup ## CASES=100000 of whatever a component, a cluster or a client can write, each time others
	METABROKER_FUZZ_CASES=$(CASES) $(BIN)/python -m pytest -n $(WORKERS) --timeout 0 tests/fuzz

random: setup ## TIMES=10 times as many random inputs, jobs and worlds as `test` plays
	METABROKER_TEST_TIMES=$(TIMES) $(BIN)/python -m pytest -n $(WORKERS) --timeout 0 $(RANDOM_TESTS)

kernel: setup ## WORLDS=300 random worlds for each policy: the compiled kernel against the readable policies
	METABROKER_TEST_KERNEL_WORLDS=$(WORLDS) $(BIN)/python -m pytest -q --timeout 0 tests/simulation/kernel

submissions: setup ## 20,000 submissions under faults of the socket, against the store
	METABROKER_TEST_SUBMISSIONS=20000 $(BIN)/python -m pytest -q --timeout 3600 tests/faults/test_submissions.py

tools: setup ## released tools of the package index, unmodified, over real Slurm, and OpenPBS if named
	sh tools/environment.sh .cache/tools $(PYTHON)
	.cache/tools/bin/python -m pip install --quiet --disable-pip-version-check $(TOOLS)
	METABROKER_TEST_TOOLS=$(CURDIR)/.cache/tools $(BIN)/python -m pytest -q -s tests/tools

same-bytes: setup ## the queries of released tools in thirty states of jobs, beside Slurm's own commands
	METABROKER_TEST_SAME_BYTES=1 $(BIN)/python -m pytest -q -s tests/daemon/test_same_bytes.py \
	  tests/daemon/test_same_bytes_settings.py

same-second: setup ## TURNS=50 jobs that come up in two real clusters at once, with the broker killed
	METABROKER_TEST_TURNS=$(TURNS) $(BIN)/python -m pytest -q -s --timeout 0 tests/faults/test_same_second.py

plans-killed: setup ## TURNS=50 plans on two real clusters, with the broker killed at any moment
	METABROKER_TEST_TURNS=$(TURNS) $(BIN)/python -m pytest -q -s --timeout 0 tests/faults/test_plans_killed.py

soak: setup ## MINUTES=30 of real clusters with everything killed at random, by SEED=1, over BROKERS=1
	$(BIN)/python -m benchmarks.soak --minutes $(MINUTES) --seed $(SEED) --brokers $(BROKERS)

# For those who deploy: pip install --require-hashes -r requirements-lock.txt, then metabroker itself.
COMPILE := uv pip compile --universal --python-version 3.11 --generate-hashes --upgrade --no-config \
  --no-annotate --no-emit-index-url --custom-compile-command 'make lock' --quiet
lock: setup ## renew the versions and hashes of all that the daemon, and its package's build, need
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/$(COMPILE) pyproject.toml --extra postgresql --output-file requirements-lock.txt
	$(BIN)/$(COMPILE) debian/requirements.in --constraint requirements-lock.txt \
	  --output-file debian/requirements.txt

light: setup ## build dist/metabroker_light-*.whl: the commands for login nodes, for Python 3.9
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist ./light

# In a copy, since dpkg-buildpackage writes beside its source.
deb: ## build dist/metabroker_*.deb (on Debian 12; it needs what debian/control says)
	rm -rf build/deb dist/metabroker_*.deb
	mkdir -p build/deb/source dist
	cp -a $(PACKAGED) build/deb/source
	cd build/deb/source && dpkg-buildpackage --build=binary --no-sign $(DEBFLAGS)
	mv build/deb/metabroker_*.deb dist/
	rm -r build/deb

federation: setup ## a thousand real Slurm nodes in this machine, against plain sbatch
	$(BIN)/python -m benchmarks.thousand_nodes

hostile: setup ## 1,000 hostile jobs of one user beside another's, on real Slurm: how long the other waits
	$(BIN)/python -m benchmarks.hostile

array: setup ## an array of 10,000 tasks on real Slurm: its queries, and the daemon killed at random
	$(BIN)/python -m benchmarks.array

load: setup ## 10,000 submissions at once, 100,000 waiting jobs, slow clusters, 1,000 users
	$(BIN)/python -m benchmarks.load

clusters-up: setup ## start three real Slurm clusters (144, 64 and 32 processors) for use by hand
	$(BIN)/python -m tests.testbed up

clusters-down: setup ## stop them
	$(BIN)/python -m tests.testbed down

clean: ## remove what the build made (not the package cache)
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache
