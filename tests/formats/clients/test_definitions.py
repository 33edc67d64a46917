"""Clients that a user describes: the same as ours, in the same words, under the same rules."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from mcpyard.domain.errors import ArgumentsRefused, DocumentBroken, Problem, SourceLocation
from mcpyard.domain.files import FileText
from mcpyard.formats.client_definitions import DIALECTS, define
from mcpyard.formats.editing import write
from mcpyard.formats.entries import Entry
from mcpyard.formats.entry_list import read
from mcpyard.formats.fact_rules import fact_problems
from mcpyard.formats.facts import Client
from mcpyard.formats.provenance import DOCUMENTED, SEEN_IN_FILES, ran, read_in
from mcpyard.formats.registry import BUILT_IN, CLIENTS, ClientRegistry, client_of

DOCS = Path(__file__).parents[3] / "docs" / "configuration.md"

KIRO = """
id = "my-kiro"
title = "Kiro"
dialect = "braces"
provenance.evidence = "files"

[[scopes]]
name = "user"
location.templates = ["{home}/.kiro/settings/mcp.json"]

[[scopes]]
name = "project"
location.templates = ["{project}/.kiro/settings/mcp.json"]
hides = ["user"]

[[shapes]]
[shapes.field_names]
command = "command"
args = "args"
env = "env"
url = "url"
headers = "headers"
enabled = "disabled"
call_timeout = "timeout"
except_tools = "disabledTools"
"""
VIBE = """
id = "my-vibe"
title = "Mistral Vibe"
format = "toml"
fragile = true
speaks = ["stdio", "http", "remote"]
names = { pattern = "[A-Za-z0-9_-]+", says = "letters, digits and - _" }
provenance = { evidence = "source", version = "3.0.3" }

[[scopes]]
name = "user"
[scopes.location]
templates = ["{home}/.vibe/config.toml"]
moved = { variable = "VIBE_HOME", templates = ["{moved}/config.toml"] }

[[scopes]]
name = "project"
location.templates = ["{project}/.vibe/config.toml"]
trust = "Mistral Vibe reads project files only in trusted folders"
hides = ["user"]

[[shapes]]
keys = ["mcp_servers"]
name_key = "name"
joinable = true
types = { stdio = "stdio", http = "streamable-http", remote = "streamable-http" }
type_aliases = { http = "http" }
type_needed = ["stdio", "http", "remote"]
type_written = ["stdio", "http", "sse", "ws", "remote"]
others = ["api_key_format", "api_key_header", "auth", "prompt"]

[shapes.field_names]
type = "transport"
command = "command"
args = "args"
env = "env"
url = "url"
headers = "headers"
cwd = "cwd"
bearer = "api_key_env"
enabled = "disabled"
start_timeout = "startup_timeout_sec"
call_timeout = "tool_timeout_sec"
except_tools = "disabled_tools"

[shapes.units]
startup_timeout_sec = { milliseconds = 1000, whole = false }
tool_timeout_sec = { milliseconds = 1000, whole = false }
"""
GOOSE = """
id = "my-goose"
title = "Goose"
format = "yaml"
speaks = ["stdio", "http", "remote"]
names = { pattern = '[^\\sA-Z]+', folded = true, says = "names without spaces and capital letters" }
provenance = { evidence = "source", version = "1" }

[[scopes]]
name = "user"
[scopes.location]
templates = ["{config}/goose/config.yaml"]
moved = { variable = "GOOSE_PATH_ROOT", templates = ["{moved}/config/config.yaml"] }

[[shapes]]
keys = ["extensions"]
own_name = "name"
types = { stdio = "stdio", http = "streamable_http", remote = "streamable_http" }
type_needed = ["stdio", "http", "sse", "ws", "remote"]
type_written = ["stdio", "http", "sse", "ws", "remote"]
other_types = ["builtin", "frontend", "inline_python", "platform"]
needed = { enabled = true, args = [] }
needed_remote = { enabled = true, description = "" }
units = { timeout = { milliseconds = 1000 } }
others = ["bundled", "description", "display_name"]

[shapes.field_names]
enabled = "enabled"
type = "type"
command = "cmd"
args = "args"
url = "uri"
headers = "headers"
env = "envs"
env_vars = "env_keys"
call_timeout = "timeout"
only_tools = "available_tools"
"""
QWEN = """
id = "my-qwen"
title = "Qwen Code"

[[scopes]]
name = "user"
location = { templates = ["{home}/.qwen/settings.json"], alone = true }
above = ["a"]
provenance = { evidence = "ran", version = "1" }
[scopes.switch]
kind = "list"
file.templates = ["{home}/.qwen/off.json"]
off = ["mcp", "excluded"]

[[shapes]]
field_names = { command = "command" }
"""


@pytest.mark.spec("F7.3")
@pytest.mark.parametrize(("text", "name"), [(KIRO, "kiro"), (VIBE, "vibe"), (GOOSE, "goose")])
def test_a_client_of_ours_in_the_words_of_a_file_is_the_same(text: str, name: str) -> None:
    ours = client_of(name)
    assert define(text, "f") == replace(ours, id=f"my-{name}", aliases=())


def test_a_switch_in_another_file_and_a_scope_of_its_own_provenance_can_be_said() -> None:
    [scope] = define(QWEN, "f").scopes
    assert scope.switch.file is not None
    assert scope.switch.off == ("mcp", "excluded")
    assert scope.provenance == ran("1")
    assert scope.location is not None
    assert scope.location.alone
    assert define(QWEN, "f").provenance == DOCUMENTED


def test_the_example_of_the_documentation_works() -> None:
    [text] = re.findall(r"```toml\n(id = \"acme\".*?)```", DOCS.read_text(), re.DOTALL)
    registry = ClientRegistry.defined_by([FileText("acme.toml", text)])
    assert registry.problems == ()
    ref = registry.scope_ref_of("acme:project", "/srv")
    entry = Entry(command="run", args=("a",), call_timeout=1500, enabled=False)
    written = write(ref, "// mine\n{}\n", "x", entry).text
    assert '"timeoutSec": 1.5' in written
    assert read(ref, written).entry("x") == entry
    assert [client.id for client in registry.clients][-2:] == ["acme", "yard"]


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.id)
def test_the_facts_of_our_own_clients_keep_the_rules(client: Client) -> None:
    assert fact_problems(client) == []


def test_a_mistake_in_the_way_a_shared_file_is_read_is_told_at_that_file() -> None:
    client = client_of("qwen")
    [index] = [at for at, scope in enumerate(client.scopes) if scope.reading]
    scope = client.scopes[index]
    assert scope.reading
    shape = replace(scope.reading.shapes[0], keys=())
    bad = replace(scope, reading=replace(scope.reading, shapes=(shape,)))
    scopes = (*client.scopes[:index], bad, *client.scopes[index + 1 :])
    [problem] = fact_problems(replace(client, scopes=scopes))
    assert problem.field == f"scopes[{index}].reading.shapes[0].keys"


MINIMAL = """id = "acme"
title = "Acme"
[[scopes]]
name = "user"
location.templates = ["{home}/a.json"]
switch.kind = "none"
[[shapes]]
field_names = { command = "command" }
"""


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ('id = "acme"', "id = ", 1, "invalid value"),
        ('id = "acme"', 'id = "codex"', 1, 'id: "codex" is the name of another client'),
        ('id = "acme"', 'id = "claude"', 1, 'id: "claude" is the name of another client'),
        ('id = "acme"', 'id = "A B"', 1, "id: must be lower-case letters"),
        ('id = "acme"', 'id = "acme"\naliases = ["x", "X"]', 2, "aliases[1]: must be lower-case"),
        ('id = "acme"', 'id = "acme"\naliases = ["code"]', 2, "aliases[0]: "),
        ('title = "Acme"', 'title = " "', 2, "title: must not be empty"),
        ('title = "Acme"', "", 1, "object missing required field `title`"),
        ('title = "Acme"', 'title = "A"\ncolour = 1', 3, "colour: is unknown"),
        ('title = "Acme"', 'title = "A"\nformat = "xml"', 3, "format: invalid enum value 'xml'"),
        ('title = "Acme"', 'title = "A"\ndialect = "x"', 3, 'dialect: "x" is unknown; expected'),
        ('title = "Acme"', 'title = "A"\nnames.pattern = "["', 3, "names.pattern: is not a regul"),
        ('title = "Acme"', 'title = "A"\nprovenance.evidence = "ran"', 3, "provenance.version: is"),
        ("{home}", "{nowhere}", 5, 'scopes[0].location.templates[0]: "{nowhere}" is unknown'),
        ("{home}", "{home", 5, "scopes[0].location.templates[0]: has a brace"),
        ("{home}/a", "a", 5, "scopes[0].location.templates[0]: must be an absolute path"),
        ('["{home}/a.json"]', "[]", 5, "scopes[0].location.templates: must not be empty"),
        ('"none"', '"entry"', 6, 'scopes[0].switch.kind: is "entry", but the shapes have no word'),
        ('"none"', '"list"', 6, "scopes[0].switch.off: is required"),
        ('"none"', '"none"\nhides = ["other"]', 7, 'scopes[0].hides: there is no scope "other"'),
        ('name = "user"', 'name = "U"', 4, "scopes[0].name: must be lower-case letters"),
        ('command = "command"', 'url = "url"', 8, "shapes[0].field_names: must have a word"),
        (
            'command = "command"',
            'bad = "url"',
            8,
            "shapes[0].field_names: invalid enum value 'bad'",
        ),
        ("field_names", "types.http = 3\nfield_names", 8, "shapes[0].types: expected `str`"),
        ("field_names", "keys = []\nfield_names", 8, "shapes[0].keys: must name at least one"),
        ("field_names", "units.x.milliseconds = 1\nfield_names", 8, 'shapes[0].units: "x" is not'),
        ("field_names", 'types.http = "h"\nfield_names', 8, "shapes[0].types: needs a word"),
        ("field_names", 'type_needed = ["sse"]\nfield_names', 8, "shapes[0].type_needed: must be"),
        (
            '"command" }',
            '"command", args = "disabled" }',
            8,
            'shapes[0].field_names: "disabled" can',
        ),
        ('"command" }', '"command", enabled = "on" }', 6, 'scopes[0].switch.kind: is "none", but'),
        (
            '"command" }',
            '"command", args = "command" }',
            8,
            'shapes[0].field_names.args: "command" is the word for "command" already',
        ),
        (
            '"command" }',
            '"run", env = "run.env" }',
            8,
            'shapes[0].field_names.env: "run.env" is inside of "run", the word for "command"',
        ),
        (
            'command = "command"',
            'env = "run.env", command = "run"',
            8,
            'shapes[0].field_names.command: "run.env" is inside of "run", the word for "command"',
        ),
        (
            '"command" }',
            '"command", type = "t" }\ntypes = { stdio = "x", http = "x" }',
            9,
            'shapes[0].types: "x" stands for "stdio" and for "http"',
        ),
        (
            '"command" }',
            '"command", call_timeout = "t" }\nunits.t.milliseconds = 0',
            9,
            "shapes[0].units.t.milliseconds: must be 1 or more",
        ),
        (
            '"command" }',
            '"command", type = "t" }\ntypes.ws = "ws"',
            9,
            'shapes[0].types: "ws" is not among speaks',
        ),
        (
            'switch.kind = "none"\n',
            'switch.kind = "none"\n[[scopes]]\nname = "user"\nlocation.templates = ["/a"]\n',
            8,
            'scopes[1].name: "user" is used twice',
        ),
        (
            'switch.kind = "none"',
            'location.moved = { variable = "V", templates = ["{gone}/x"] }\nswitch.kind = "none"',
            6,
            'scopes[0].location.moved.templates[0]: "{gone}" is unknown',
        ),
        (
            'switch.kind = "none"',
            'switch = { kind = "map", file = { templates = ["x"] } }',
            6,
            "scopes[0].switch.file.templates[0]: must be an absolute path",
        ),
    ],
)
def test_a_mistake_is_told_with_its_file_line_and_field(
    old: str, new: str, line: int, says: str
) -> None:
    assert MINIMAL.count(old) == 1
    registry = ClientRegistry.defined_by([FileText("acme.toml", MINIMAL.replace(old, new))])
    assert registry.clients == BUILT_IN.clients
    problem = registry.problems[0]
    assert says in str(problem).replace("acme.toml", "")
    assert problem.place is not None
    assert (problem.place.file, problem.place.line) == ("acme.toml", line)


def test_lists_that_must_not_be_empty_are_told() -> None:
    with pytest.raises(DocumentBroken, match="scopes: must not be empty"):
        define('id = "a"\ntitle = "A"\nscopes = []\nshapes = []\n', "f")


def test_a_bad_file_costs_only_itself_and_no_two_have_one_name() -> None:
    fault = Problem("", "is not UTF-8", SourceLocation("b.toml", 3, 1))
    files = [
        FileText("a.toml", MINIMAL),
        FileText("b.toml", None, fault),
        FileText("c.toml", MINIMAL),
        FileText("d.toml", None),
        FileText("e.toml", MINIMAL.replace("acme", "other")),
    ]
    registry = ClientRegistry.defined_by(files)
    assert [client.id for client in registry.clients][-3:] == ["acme", "other", "yard"]
    assert [problem.place and problem.place.file for problem in registry.problems] == [
        "b.toml",
        "c.toml",
    ]
    with pytest.raises(ArgumentsRefused) as named:
        registry.client_of("b")
    assert str(named.value) == "b.toml:3:1: is not UTF-8"
    with pytest.raises(ArgumentsRefused, match=r'"nobody" is unknown.*; b\.toml:3:1: is not UTF-8'):
        registry.client_of("nobody")


def test_every_dialect_that_a_file_can_name_is_documented() -> None:
    assert all(word in DOCS.read_text() for word in DIALECTS)


def test_the_provenance_of_facts_is_told_in_words() -> None:
    assert str(ran("1.2")) == "verified with 1.2"
    assert str(read_in("1.2")) == "verified with 1.2 (source code)"
    assert str(SEEN_IN_FILES) == "verified with files of users"
    assert str(DOCUMENTED) == "from documentation"
