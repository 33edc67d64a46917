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
        usage = figures(parent.pid)
        assert usage is not None
        assert usage.processes == 2
        assert usage.rss > 4 * 1024 * 1024
        parent.communicate(b"\n")
    assert figures(parent.pid) is None


def test_our_own_figures_can_be_read() -> None:
    usage = figures(os.getpid())
    assert usage is not None
    assert usage.processes >= 1
    assert usage.cpu_seconds > 0
