from uuid import uuid4

import pytest

from mcpyard.domain.cause import Code
from mcpyard.domain.definition.launch import make_launch
from mcpyard.domain.definition.parsing import read_definition
from mcpyard.domain.desired import DesiredServer, Owner
from mcpyard.domain.fixes import Fix, FixKind, fixes_of, similar_commands
from mcpyard.domain.model import Scope, Wanted

USER = Owner(Scope.USER)
PROJECT = Owner(Scope.PROJECT, "/p/.mcp.json")


def server(definition: dict[str, object], owner: Owner = USER) -> DesiredServer:
    config = read_definition(definition).config
    launch = make_launch(config, {}.get)
    return DesiredServer(uuid4(), "x", owner, config, Wanted.RUNNING, launch, "", "")


def test_each_variable_that_is_not_set_can_be_set_once() -> None:
    it = server({"command": "a", "args": ["${ONE}", "${ONE} ${keyring:R}"], "env": {"K": "${TWO}"}})
    fixes = (Fix(FixKind.SET_VARIABLE, "ONE"), Fix(FixKind.SET_VARIABLE, "TWO"))
    assert fixes_of(it, Code.INVALID_DEFINITION, ()) == fixes
    with_default = server({"command": "a", "args": ["${ONE:-x}"]})
    assert fixes_of(with_default, None, ()) == ()


def test_a_projects_file_needs_consent_for_a_secret_that_is_stored() -> None:
    it = server({"url": "https://h", "headers": {"X": "${ONE}${TWO}"}}, PROJECT)
    fixes = (Fix(FixKind.ALLOW, "ONE"), Fix(FixKind.SET_VARIABLE, "TWO"))
    assert fixes_of(it, Code.INVALID_DEFINITION, {"ONE"}) == fixes


@pytest.mark.parametrize(
    ("definition", "owner", "code", "fixes"),
    [
        ({"command": "npxx"}, USER, Code.COMMAND_MISSING, (Fix(FixKind.USE_COMMAND, "npxx"),)),
        ({"command": "npxx"}, PROJECT, Code.COMMAND_MISSING, (Fix(FixKind.USE_COMMAND, "npxx"),)),
        ({"command": "npxx"}, Owner(Scope.CODE), Code.COMMAND_MISSING, ()),
        ({"command": "/bin/npxx"}, USER, Code.COMMAND_MISSING, ()),
        ({"command": "npxx x", "args": []}, USER, Code.COMMAND_MISSING, ()),
        ({"command": "npxx"}, USER, Code.EXITED, ()),
        ({"url": "https://h"}, USER, Code.COMMAND_MISSING, ()),
    ],
)
def test_a_command_that_is_missing_can_be_replaced_where_its_definition_can_be_edited(
    definition: dict[str, object], owner: Owner, code: Code, fixes: tuple[Fix, ...]
) -> None:
    assert fixes_of(server(definition, owner), code, ()) == fixes


def test_similar_commands_are_offered_the_most_similar_first() -> None:
    commands = ["npx", "npm", "nnpxx", "uvx", "x" * 100, "node"]
    assert similar_commands("npxx", commands)[0] in {"npx", "nnpxx"}
    assert "npx" in similar_commands("npxx", commands)
    assert similar_commands("npxx", ["uvx", "node"]) == []
    assert similar_commands("npx", ["npx"]) == []
