"""A yard that is killed in the middle of its work keeps every promise it made.

Several clients register, edit, switch and remove servers. At a random moment the yard is killed
for good. After the next start every change that was answered is there, under the same id; the one
that each client was still waiting for is there whole, or not at all.
"""

import random
import signal
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, Timer

import pytest

from mcpyard.domain.desired import Owner
from mcpyard.domain.model import Scope
from mcpyard.formats import mcp_json
from tests.api.daemon import SERVERS, asking
from tests.api.writers import Writer
from tests.cli.commands import TIMEOUT, Up, yard_up
from tests.conftest import FULL

pytestmark = [pytest.mark.real, pytest.mark.timeout(3600 if FULL else 120)]

ROUNDS = 100 if FULL else 5
WRITERS = 4
COMMENTS = ("// written by hand", "/* about the one below */", "// the end")
TEXT = """// written by hand
{
  "mcpServers": {
    /* about the one below */
    "hand": {"command": "none", "args": [], "transport": "stdio", "enabled": false}, // the end
  }
}
"""


@pytest.mark.parametrize("with_project", [True, False], ids=["with a project", "without"])
def test_a_killed_yard_keeps_every_promise(tmp_path: Path, *, with_project: bool) -> None:
    choose = random.Random(20261115 + with_project)  # noqa: S311  to be repeated
    arguments: list[object] = []
    if with_project:
        (tmp_path / ".mcp.json").write_text(TEXT)
        arguments = ["--project", tmp_path]
    scopes = ["project", "user"] if with_project else ["user"]
    writers = [Writer(f"w{number}-", scopes, choose.randrange(2**32)) for number in range(WRITERS)]
    promised, cut_short = 0, 0
    for _ in range(ROUNDS):
        with yard_up(tmp_path / "home", *arguments) as up:
            compare(up, writers, with_project=with_project)
            done = write_until_killed(up, writers, choose.uniform(0.02, 0.6))
        promised += sum(done)
        cut_short += any(slot.maybe for writer in writers for slot in writer.slots)
        if with_project:
            check_file(tmp_path / ".mcp.json")
    with yard_up(tmp_path / "home", *arguments) as up:
        compare(up, writers, with_project=with_project)
    assert promised > ROUNDS
    assert cut_short > ROUNDS // 2, "hardly any change was caught in the middle"


def write_until_killed(up: Up, writers: Sequence[Writer], seconds: float) -> list[int]:
    """How many changes of each writer were answered; the time runs once each has had one."""
    killing = Timer(seconds, up.process.send_signal, [signal.SIGKILL])
    writing = Barrier(WRITERS, action=killing.start, timeout=TIMEOUT)

    def write(writer: Writer) -> int:
        with asking(up, up.home) as client:
            first = writer.write(client, 1)
            writing.wait()
            return first + writer.write(client, 1_000_000)

    with ThreadPoolExecutor(WRITERS) as pool:
        done = [*pool.map(write, writers)]
    killing.join()
    up.process.wait(TIMEOUT)
    return done


def compare(up: Up, writers: Sequence[Writer], *, with_project: bool) -> None:
    with asking(up, up.home) as client:
        records = client.get(SERVERS).json()
    accounted = {identity for writer in writers for identity in writer.settle(records)}
    others = [each["name"] for each in records if each["id"] not in accounted]
    assert others == (["hand"] if with_project else [])


def check_file(path: Path) -> None:
    text = path.read_text()
    document = mcp_json.read(text, Owner(Scope.PROJECT, str(path)))
    assert document.problems == ()
    assert "hand" in {each.name for each in document.definitions}
    assert all(text.count(comment) == 1 for comment in COMMENTS)
