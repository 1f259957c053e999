"""Stateful tests run for ``--fuzz-seconds``: new examples each time, failing ones kept in ``build/fuzz/hypothesis``."""

import random
import time

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.database import DirectoryBasedExampleDatabase
from hypothesis.internal.conjecture import engine

ROUND = 3  # examples: with killed processes each may take seconds


def pytest_addoption(parser):
    parser.addoption("--fuzz-seconds", type=float, default=20.0, help="how long each stateful test runs")


def pytest_configure(config):
    engine.MAX_SHRINKING_SECONDS = 30  # not a setting
    settings.register_profile(
        "fuzz",
        max_examples=ROUND,
        stateful_step_count=8,
        deadline=None,
        print_blob=True,
        database=DirectoryBasedExampleDatabase(config.rootpath / "build" / "fuzz" / "hypothesis"),
        suppress_health_check=list(HealthCheck),
        phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink],
    )
    settings.load_profile("fuzz")


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """Call the test again and again until its time is up."""
    end = time.monotonic() + pyfuncitem.config.getoption("--fuzz-seconds")
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    rounds = 0
    while True:
        random.seed()
        pyfuncitem.obj(**arguments)
        rounds += 1
        if time.monotonic() > end:
            print(f"\n{pyfuncitem.name}: {rounds * ROUND} examples")
            return True
