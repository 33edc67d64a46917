"""Rows that no version of ours would write: what one of them may cost, and what it may not."""

import sqlite3
from contextlib import closing
from pathlib import Path
from uuid import UUID

import pytest

from mcpyard.domain.desired import Owner
from mcpyard.domain.errors import StateBroken
from mcpyard.domain.model import Scope
from mcpyard.domain.observed import Capabilities, Era
from mcpyard.domain.ports import KnownConnection
from mcpyard.store.sqlite.peeking import peek_definitions
from mcpyard.store.sqlite.store import Store
from tests.store.contract import opened

USER = Owner(Scope.USER)
SERVER = UUID(int=7)
ODD = (
    "INSERT INTO identities VALUES ('team', '', 'n', '00000000-0000-0000-0000-000000000001')",
    "INSERT INTO identities VALUES ('user', '', 'odd', 'no id')",
    "INSERT INTO exposed_names VALUES ('no id', 't', 'mcp_t')",
    "INSERT INTO tools VALUES ('no id', x'5b5d', '')",
    "INSERT INTO tools VALUES ('00000000-0000-0000-0000-000000000007', x'5b', '')",
    "INSERT INTO offers VALUES ('00000000-0000-0000-0000-000000000007', x'31')",
    "INSERT INTO reached VALUES ('l', 'newer', NULL)",
    "INSERT INTO renames VALUES ('team', '', 'a', 'b')",
    "INSERT INTO tokens VALUES ('no id', 'n', 'h', NULL, 1, NULL, NULL, NULL)",
    "INSERT INTO login_sessions VALUES ('c', 'k', 1, 4611686018427387904)",
    "INSERT INTO approvals VALUES ('f', 4611686018427387904, NULL)",
    "INSERT INTO approvals VALUES ('g', 1, '[1]')",
    """INSERT INTO approvals VALUES ('h', 1, '{"a": {"definition": {}}}')""",
    """INSERT INTO approvals
    VALUES ('i', 1, '{"a": {"definition": {}, "shadows": false, "gone": false, "edit": null}}')""",
)
NEEDED = (
    "INSERT INTO definitions VALUES ('no id', 'n', '{}', '')",
    "INSERT INTO definitions VALUES ('00000000-0000-0000-0000-000000000001', 'n', '{', '')",
    "INSERT INTO policies VALUES ('no id', '{}')",
)


def write(home: Path, *statements: str) -> None:
    with closing(sqlite3.connect(home / "state.db")) as connection, connection:
        for each in statements:
            connection.execute(each)


async def test_rows_that_cannot_be_read_are_left_out_and_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened(lambda: Store.open(tmp_path)) as store:
        fs = store.memory.identity(USER, "fs")
        store.memory.keep_reached("known", KnownConnection(Era.HANDSHAKE))
    write(tmp_path, *ODD)
    async with opened(lambda: Store.open(tmp_path)) as store:
        assert store.memory.identity(USER, "fs") == fs
        assert store.memory.reached("known") == KnownConnection(Era.HANDSHAKE)
        assert store.memory.reached("l") is None
        assert store.memory.tools(SERVER) == ()
        assert store.memory.offer(SERVER) == Capabilities()
        assert store.tokens.all() == ()
        assert store.approvals.all() == {}
    assert sum("cannot be read and is skipped" in each for each in caplog.messages) == len(ODD)
    assert peek_definitions(tmp_path).identities == {(USER, "fs"): fs}


@pytest.mark.parametrize(
    "statement", [*NEEDED, "INSERT INTO profiles VALUES ('work', '{')"], ids=range(4)
)
async def test_a_row_that_decides_what_runs_is_not_left_out(tmp_path: Path, statement: str) -> None:
    async with opened(lambda: Store.open(tmp_path)):
        pass
    write(tmp_path, statement)
    with pytest.raises(StateBroken, match="in the state cannot be read"):
        await Store.open(tmp_path)


@pytest.mark.parametrize("statement", NEEDED, ids=range(3))
async def test_a_look_from_outside_tells_the_same(tmp_path: Path, statement: str) -> None:
    async with opened(lambda: Store.open(tmp_path)):
        pass
    write(tmp_path, statement)
    with pytest.raises(StateBroken, match="in the state cannot be read"):
        peek_definitions(tmp_path)
