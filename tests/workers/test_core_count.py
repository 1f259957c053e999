"""How many processes share work by default."""

import os
import subprocess
import sys

import pytest

SHOW = "from grpo_env.workers.core_count import usable_cores; print(usable_cores())"


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="not Linux")
def test_only_the_cores_count_that_a_job_may_use():
    one = {min(os.sched_getaffinity(0))}
    shown = subprocess.check_output([sys.executable, "-c", SHOW], preexec_fn=lambda: os.sched_setaffinity(0, one))
    assert int(shown) == 1
