VENV ?= .venv
BIN := $(VENV)/bin
PYTHON ?= python3

export HF_HUB_DISABLE_TELEMETRY := 1

.PHONY: train test check lint reference types shipped tests test-slow docs test-docs attacks fuzz soak test-integrations test-vllm test-view pictures dist clean

train: $(VENV)/ready
	$(BIN)/grpo_env train

test: check
check: lint types tests

lint: $(VENV)/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# The top-level folders become grpo_env.verifiers etc. only when installed, so types are checked on the installed package.
reference:  # the pages that are generated from the classes and from recorded runs
	$(BIN)/python -c "from grpo_env.docgen.settings_page import page; print(page(), end='')" > docs/settings.md
	$(BIN)/grpo_env verifiers show --all > docs/catalogue.md
	$(BIN)/python docs/site/proven.py

types: shipped
	cd build/typing && $(abspath $(BIN))/mypy --config-file $(CURDIR)/pyproject.toml -p grpo_env

shipped: $(VENV)/ready
	rm -rf build/typing build/lib
	$(BIN)/pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --target build/typing .

# Tests use one thread, and many wait, so three processes share the files and keep two cores at work.
tests: $(VENV)/ready
	$(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder -m 'not slow'

# Whole programs: pages, examples, runs that are killed, several processes, attacks on the sandbox.
test-slow: $(VENV)/ready
	$(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder -m slow

# The documentation site: open build/site/index.html.
docs: shipped $(VENV)/docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# Every command in the pages, including training runs; takes some minutes. `make test-slow` runs the fast ones.
test-docs: $(VENV)/ready
	GRPO_ENV_DOCS=all $(BIN)/python -m pytest tests/docs

# Every attack on the sandbox, in each mode and as each kind of user; writes the table of docs/sandbox.md.
attacks: $(VENV)/ready
	$(BIN)/python tests/sandbox/table.py

# Fuzzing for ten minutes, or for FUZZ_SECONDS. Findings are in build/fuzz.
fuzz: .venv-fuzz/ready
	.venv-fuzz/bin/python tests/fuzz/run.py

.venv-fuzz/ready: pyproject.toml constraints.txt tests/fuzz/requirements.txt tests/serving/requirements.txt
	$(PYTHON) -m venv .venv-fuzz
	.venv-fuzz/bin/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]' -r tests/fuzz/requirements.txt -r tests/serving/requirements.txt
	touch $@

# A server under mixed load for ten minutes, or for SOAK_SECONDS.
soak: $(VENV)/ready
	$(BIN)/python benchmarks/soak.py

# The adapters, called by the packages they are for.
test-integrations: .venv-integrations/ready .venv-openenv/ready
	.venv-integrations/bin/python -m pytest tests/integrations
	.venv-openenv/bin/python -m pytest tests/integrations/test_openenv.py -W default

# Rollouts by vLLM, on a CPU. Its packages for pictures and sound do not fit its torch, and are not needed; the CPU
# build's bound of transformers is below ours, so ours is installed after it, at the version of constraints.txt.
test-vllm: .venv-vllm/ready
	.venv-vllm/bin/python -m pytest tests/vllm -W default

# The viewer in headless Chromium. Needs chromium, chromedriver (Debian: chromium-driver) and npm.
test-view: .venv-view/ready
	.venv-view/bin/python -m pytest tests/view/browser

.venv-view/ready: pyproject.toml constraints.txt tests/view/browser/requirements.txt
	$(PYTHON) -m venv .venv-view
	.venv-view/bin/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[view]' pytest hypothesis -r tests/view/browser/requirements.txt
	npm install --silent --no-save --prefix .venv-view axe-core@4.14.1
	touch $@

.venv-vllm/ready: pyproject.toml tests/vllm/requirements.txt
	$(PYTHON) -m venv .venv-vllm
	.venv-vllm/bin/pip install --quiet --disable-pip-version-check -r tests/vllm/requirements.txt
	.venv-vllm/bin/pip uninstall --quiet --yes torchvision torchaudio torchcodec
	.venv-vllm/bin/pip install --quiet --disable-pip-version-check -e . transformers==5.23.0
	touch $@

.venv-integrations/ready: pyproject.toml constraints.txt tests/integrations/requirements.txt tests/integrations/requirements-alone.txt
	$(PYTHON) -m venv .venv-integrations
	grep --invert-match --extended-regexp '^(fsspec|openai|python-dateutil|tabulate)==' constraints.txt > .venv-integrations/constraints.txt
	.venv-integrations/bin/pip install --quiet --disable-pip-version-check -c .venv-integrations/constraints.txt -e '.[serve]' pytest hypothesis -r tests/integrations/requirements.txt
	.venv-integrations/bin/pip install --quiet --disable-pip-version-check --no-deps -r tests/integrations/requirements-alone.txt
	touch $@

# OpenEnv wants an older mcp than verifiers; its gradio wants an older pillow than constraints.txt has.
.venv-openenv/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv-openenv
	grep --invert-match '^pillow==' constraints.txt > .venv-openenv/constraints.txt
	.venv-openenv/bin/pip install --quiet --disable-pip-version-check -c .venv-openenv/constraints.txt -e '.[openenv]' pytest hypothesis
	touch $@

# Needs data, Chromium and TRL. tests/docs/pictures.py explains how to set them up and how to draw single pictures.
pictures: $(VENV)/ready
	$(BIN)/python tests/docs/pictures.py

$(VENV)/docs: $(VENV)/ready
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs]'
	touch $@

$(VENV)/ready: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "grpo_env needs Python 3.11 or newer; set PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

# Wheel and sdist, checked as PyPI does, and the wheel installed and run in an empty environment and folder.
dist: $(VENV)/ready
	rm -rf dist build/dist && mkdir -p build/dist
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[release]'
	$(BIN)/python -m build --no-isolation --outdir dist .
	$(BIN)/python -m twine check --strict dist/*
	$(PYTHON) -m venv build/dist/venv
	build/dist/venv/bin/pip install --quiet --disable-pip-version-check -c constraints.txt dist/*.whl
	cd build/dist && venv/bin/grpo_env check arithmetic && venv/bin/grpo_env train steps=2 eval.examples=8

clean:
	rm -rf $(VENV) .venv-integrations .venv-openenv .venv-vllm .venv-fuzz .venv-view build dist *.egg-info
