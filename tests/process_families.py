"""Whether processes that a test or a bench started are gone."""

from collections.abc import Iterable

import psutil


def those_left(family: Iterable[psutil.Process], seconds: float) -> list[psutil.Process]:
    """The processes that still run after at most so long, whoever has their numbers by now."""
    while True:
        # A number that was given away again, to a thread as well, is no process of the family.
        running = [each for each in family if each.is_running()]
        try:
            return psutil.wait_procs(running, seconds)[1]
        except FileNotFoundError:  # Linux refuses to watch the number of a thread.
            family = running


def all_gone(family: Iterable[psutil.Process], seconds: float = 5.0) -> bool:
    return not those_left(family, seconds)
