"""What a server's processes use: looked up when somebody asks, never in between."""

import psutil

from mcpyard.domain.observed import Figures


def figures(pid: int) -> Figures | None:
    """What the process and its descendants use; None when it is gone."""
    try:
        main = psutil.Process(pid)
        family = [main, *main.children(recursive=True)]
    except psutil.Error:
        return None
    used = [each for each in map(_one, family) if each]
    if not used:
        return None
    return Figures(len(used), sum(rss for rss, _ in used), sum(cpu for _, cpu in used))


def _one(process: psutil.Process) -> tuple[int, float] | None:
    try:
        with process.oneshot():
            times = process.cpu_times()
            return process.memory_info().rss, times.user + times.system
    except psutil.Error:
        return None
