# Every target sets itself up: a virtual environment in .venv, from the hashed requirements.lock under constraints.txt.
# All but torch is in the lock (see there); what is installed second therefore is torch and this package.
PYTHON ?= python3
PIP = .venv/bin/python -m pip --disable-pip-version-check install --quiet

.PHONY: demo test cluster lint golden torture bench samples lock docs dist clean

.venv/installed: pyproject.toml constraints.txt requirements.lock
	$(PYTHON) -m venv .venv
	$(PIP) --require-hashes --no-deps --requirement requirements.lock
	$(PIP) --constraint constraints.txt --editable ".[test,lint]"
	touch .venv/installed

# Looks up the hashes of what constraints.txt pins; after each change of it: make lock INDEX=address
lock:
	$(PYTHON) tools/lock.py $(INDEX)

demo: .venv/installed
	.venv/bin/anacp demo

# The tests are many and small: two processes of one thread each are faster than one of two.
test: .venv/installed
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 .venv/bin/python -m pytest -m "not golden and not cluster" -n 2 --durations 10

# On a real Ray cluster of three nodes on this machine, some of which are taken away; minutes, and nothing beside it.
cluster: .venv/installed
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 .venv/bin/python -m pytest -m cluster --durations 10

golden: .venv/installed
	.venv/bin/python -m pytest -m golden -s

lint: .venv/installed
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/lint-imports

# Tries to break every promise of docs/reliability.md: make torture [SHARE=0.05] [SEED=1] [ONLY=kills]
torture: .venv/installed
	.venv/bin/python -m tools.torture --share $(or $(SHARE),1) $(if $(SEED),--seed $(SEED)) $(if $(ONLY),--only $(ONLY))

# Every bar of docs/performance.md: make bench [DATA=FEATURES.npz] [ONLY="speed start_up"]
bench: .venv/installed
	.venv/bin/python benchmarks/bench.py $(if $(DATA),--data $(DATA)) $(if $(ONLY),--only $(ONLY))

# Rebuilds the embedded samples from their source data: make samples DATA=folder
samples: .venv/installed
	.venv/bin/python tools/make_samples.py $(DATA)

# The site in site/; a link that leads nowhere is an error. It reads docstrings without importing them.
.venv-docs/installed: pyproject.toml
	$(PYTHON) -m venv .venv-docs
	.venv-docs/bin/python -m pip --disable-pip-version-check install --quiet \
		$$($(PYTHON) -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["docs"])')
	touch .venv-docs/installed

docs: .venv-docs/installed
	NO_MKDOCS_2_WARNING=1 .venv-docs/bin/mkdocs build --strict

# Wheel and source archive in dist/, tried in a new environment.
dist:
	$(PYTHON) tools/dist.py

clean:
	rm -rf .venv .venv-docs build dist site anacp-demo
