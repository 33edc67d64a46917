import os
import subprocess
import sys

import pytest

from mcpyard.runtime.figures import figures

PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
print("up", flush=True)
input()
"""


@pytest.mark.real
def test_a_process_is_counted_with_its_descendants() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"up\n"
        found = figures(parent.pid)
        assert found is not None
        assert found.processes == 2
        assert found.rss > 4 * 1024 * 1024
        parent.communicate(b"\n")
    assert figures(parent.pid) is None


def test_our_own_figures_can_be_read() -> None:
    found = figures(os.getpid())
    assert found is not None
    assert found.processes >= 1
    assert found.cpu_seconds > 0
