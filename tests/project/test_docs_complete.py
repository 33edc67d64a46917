"""Nothing that somebody can set, call, read or run into is missing from the docs."""

import ast
import inspect
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, cast

import pytest
from typer.main import get_group

import mcpyard
from bench.summary import PARTS, Figure
from mcpyard import LocalConfig, RemoteConfig
from mcpyard.api import metrics
from mcpyard.api.app import GATEWAY
from mcpyard.api.openapi.document import document
from mcpyard.cli.main import app
from mcpyard.domain.cause import Code
from mcpyard.domain.edges import EDGES
from mcpyard.domain.limits import START, START_WITH_DOWNLOAD
from mcpyard.domain.model import POLICY_FIELDS, FallbackTool, ToolPolicy
from mcpyard.formats.registry import CLIENTS
from mcpyard.legal import main as legal
from mcpyard.web.templating import LANGUAGE_COOKIE, THEME_COOKIE
from mcpyard.yard.profiles import RESERVED, Profile, ToolOverride

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "mcpyard"


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text()


@cache
def syntax() -> list[ast.AST]:
    return [node for path in SOURCE.rglob("*.py") for node in ast.walk(ast.parse(path.read_text()))]


def called(node: ast.AST) -> str:
    """The last part of the name of a function that is called."""
    function = node.func if isinstance(node, ast.Call) else None
    return getattr(function, "attr", getattr(function, "id", ""))


def literal(node: ast.AST | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def arguments(node: ast.AST) -> list[ast.expr]:
    return node.args if isinstance(node, ast.Call) else []


def test_every_operation_of_the_openapi_document_is_in_the_rest_reference() -> None:
    reference, api = page("rest.md"), cast("Any", document())
    assert len(api["paths"]) > 30
    for path, item in api["paths"].items():
        for method in item.keys() - {"parameters"}:
            assert f"### `{method.upper()} {path}`" in reference, (method, path)


def test_every_address_of_the_gateway_is_documented() -> None:
    for address in (GATEWAY, f"{GATEWAY}/{{profile}}", f"{GATEWAY}/{RESERVED}/{{ref}}"):
        assert f"| `{address}` |" in page("gateway.md")


def names_of(model: type[LocalConfig | RemoteConfig | ToolPolicy | FallbackTool]) -> Iterator[str]:
    for name, info in model.model_fields.items():
        yield info.alias or name


@pytest.mark.parametrize("model", [LocalConfig, RemoteConfig, ToolPolicy, FallbackTool])
def test_every_field_of_a_definition_and_of_policy_is_documented(
    model: type[LocalConfig | RemoteConfig | ToolPolicy | FallbackTool],
) -> None:
    text = page("configuration.md")
    for name in names_of(model):
        assert f"`{name}`" in text, name


def test_policy_fields_stand_in_the_table_of_policy_and_launch_fields_do_not() -> None:
    policy = page("configuration.md").partition("\n## Policy\n")[2].partition("| of a tool |")[0]
    for name, info in LocalConfig.model_fields.items():
        assert (f"`{info.alias or name}`" in policy) == (name in POLICY_FIELDS), name


def test_every_field_of_a_profile_is_documented() -> None:
    profiles = page("configuration.md").partition("\n## Profiles\n")[2].partition("\n## ")[0]
    for kind in (Profile, ToolOverride):
        for name in inspect.signature(kind).parameters:
            assert f"`{name}`" in profiles or f'"{name}"' in profiles, name


def test_the_documented_limits_are_those_of_the_code() -> None:
    assert f"| {START * 1000:.0f}; {START_WITH_DOWNLOAD * 1000:.0f} for" in page("configuration.md")


def environment_variables() -> set[str]:
    """Names that the code reads from an environment, and those that begin like ours."""
    names = {
        literal(node.slice if isinstance(node, ast.Subscript) else (arguments(node) or [None])[0])
        for node in syntax()
        if (isinstance(node, ast.Subscript) or called(node) == "get")
        and re.search(r"environ(ment)?\b", ast.unparse(node))
    }
    ours = {literal(node) for node in syntax()}
    names |= {each for each in ours if re.fullmatch(r"_?MCPYARD_[A-Z_]+", each)}
    names |= {
        scope.location.moved[0]
        for client in CLIENTS
        for scope in client.scopes
        if scope.location and scope.location.moved
    }
    return {each for each in names if re.fullmatch(r"_?[A-Z][A-Z_]+", each)}


def test_every_environment_variable_is_documented() -> None:
    text, variables = page("configuration.md"), environment_variables()
    assert variables >= {
        "MCPYARD_HOME",
        "MCPYARD_TOKEN",
        "MCPYARD_KEY",
        "CODEX_HOME",
        "_MCPYARD_COMPLETE",
    }
    for name in variables:
        assert f"`{name}`" in text, name


def problem_codes() -> set[str]:
    """What stands at the end of a problem's type: of errors, of the doors, of the command line."""
    codes = {each.problem for each in EDGES.values()}
    api = cast("Any", document())
    for each in api["components"]["responses"].values():
        codes |= set(re.findall(r"`([a-z-]+)`", each["description"].rpartition("Types: ")[2]))
    for node in syntax():
        if called(node) == "problem" and len(arguments(node)) > 1:
            codes.add(literal(arguments(node)[1]))
        codes |= {
            literal(each.value)
            for each in (node.keywords if isinstance(node, ast.Call) else ())
            if each.arg == "slug"
        }
    return codes - {""}


def entries(text: str) -> dict[str, str]:
    """The entries of the troubleshooting page, by code."""
    parts = text.split("\n### `")[1:]
    return {part.partition("`")[0]: part.partition("`")[2] for part in parts}


def test_every_error_code_has_its_entry_and_no_other_has_one() -> None:
    sections = entries(page("troubleshooting.md"))
    codes = problem_codes()
    assert codes >= {"timed-out", "unauthorized", "not-running", "wrong-host"}
    for code in codes:
        assert code in sections, code
    others = {"no-route", "wrong-method", "wrong-media-type", "refused", "failed"}
    assert sections.keys() == codes | set(Code) | others


def test_an_entry_tells_the_status_and_the_codes_of_its_error() -> None:
    sections = entries(page("troubleshooting.md"))
    for each in EDGES.values():
        statuses = f"HTTP {each.status}, exit code {each.exit_code}, JSON-RPC {each.rpc_code}."
        assert statuses in sections[each.problem], each.problem


def test_an_entry_says_what_happened_and_what_to_do() -> None:
    for code, entry in entries(page("troubleshooting.md")).items():
        what, *do = entry.partition("\n## ")[0].strip().split("\n\n")
        assert what, code
        assert do, code


def test_every_metric_is_documented_with_its_kind() -> None:
    text = page("watching.md")
    every_metric = (*metrics._METRICS, *metrics._YARD_METRICS, *metrics.CLUSTER_METRICS)
    for each in every_metric:
        assert f"| `{each.name}` | {each.kind} |" in text, each.name
    named = set(re.findall(r"`(mcpyard_[a-z_]+)`", text))
    assert named == {each.name for each in every_metric}


def event_kinds() -> set[str]:
    """What is published, said to a new reader, or left out for one that is slow."""
    kinds = {
        literal(arguments(node)[0])
        for node in syntax()
        if called(node) in {"publish", "_tell", "_json_line"} and arguments(node)
    }
    kinds |= {
        literal(arguments(node)[1])
        for node in syntax()
        if called(node) == "Event" and len(arguments(node)) > 1
    }
    return kinds - {""} | {"calls", "resync"}


def test_every_event_is_documented_and_no_other_is() -> None:
    table = page("watching.md").partition("\n## Events\n")[2].partition("\n## ")[0]
    kinds = event_kinds()
    assert kinds >= {"status", "backup", "hello", "ready"}
    assert set(re.findall(r"^\| `([a-z]+)` \|", table, re.MULTILINE)) == kinds


def test_every_public_name_is_in_the_python_reference() -> None:
    text = page("python.md")
    for name in set(mcpyard.__all__) - {"__version__"}:
        assert f"\n## `{name}`\n" in text or f"\n| `{name}` | `" in text


def test_every_bench_of_the_summary_has_its_section_with_figures() -> None:
    text = page("performance.md")
    for part in PARTS:
        section = text.partition(f"\n## {part.title}\n")[2].partition("\n## ")[0]
        assert section.count("\n| ") > 1, part.title
    assert re.search(r"^\| processor \| \d+ cores", text, re.MULTILINE)


def test_every_file_that_the_architecture_names_is_there() -> None:
    named = re.findall(r"`([a-z_]+(?:/[a-z_]+)*\.py)`", page("architecture.md"))
    assert len(named) > 40
    for each in named:
        assert (SOURCE / each).exists() or (ROOT / each).exists(), each


def shown_commands(text: str) -> Iterator[list[str]]:
    """The commands of a page's blocks, each as its words."""
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for line in re.findall(r"^(?:\$ )?mcpyard (\D.*)$", block, re.MULTILINE):
            if language in {"", "sh", "console"}:
                yield shlex.split(re.split(r" [|>] ", line)[0], comments=True)


def test_every_command_that_a_page_shows_is_one_that_mcpyard_takes() -> None:
    available = get_group(app).commands
    commands = [
        words
        for path in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
        for words in shown_commands(path.read_text())
    ]
    assert len(commands) > 40
    for name, *options in commands:
        available[name].make_context(name, options)


RUN = """
import ast, asyncio, inspect, sys
code = compile(sys.argv[1], "python.md", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
awaited = eval(code)
if inspect.isawaitable(awaited):
    asyncio.run(awaited)
"""

PRINTED = [
    "legal False\n",
    'typo failed command not found: "mcpyard-leagl" Check the spelling, or use the full path.\n',
    "False\n",
    "legal legal://laws True\nlegal legal://cases True\n",
    "False\n",
]


@pytest.mark.real
def test_the_snippets_of_the_python_reference_run() -> None:
    snippets = re.findall(r"```python\n(.*?)```", page("python.md"), re.DOTALL)
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    for snippet, printed in zip(snippets, PRINTED, strict=True):
        ran = subprocess.run(
            [sys.executable, "-c", RUN, snippet],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | {"PATH": programs},
        )
        assert ran.stdout == printed, ran.stderr


def test_every_option_of_the_legal_server_is_documented() -> None:
    actions = legal._parser()._actions
    assert len(actions) > 5
    for action in actions:
        for spelling in action.option_strings:
            assert spelling in {"-h", "--help"} or f"`{spelling}`" in page("legal.md"), spelling
        for command in action.choices or ():
            assert str(command) in page("legal.md"), command


def test_what_the_browser_keeps_is_documented() -> None:
    for cookie in (LANGUAGE_COOKIE, THEME_COOKIE):
        assert f"`{cookie}`" in page("configuration.md")


@pytest.mark.parametrize(
    ("line", "figure"),
    [
        (f"{'calls':52}  21,982/s", Figure("calls", "21,982/s", "")),
        (f"{'x' * 52}  1.2 s", Figure("x" * 52, "1.2 s", "")),
        (f"{'a longer name ' * 5}at 10  2.17", Figure("a longer name " * 5 + "at 10", "2.17", "")),
        (f"{'p95':52}  46 ms  (at most 500 ms)", Figure("p95", "46 ms", "at most 500 ms")),
        (
            f"{'size':52}  9 MB  (at most 2 MB)  MISSED",
            Figure("size", "9 MB", "at most 2 MB, missed"),
        ),
        ("keeper ready            94.1 ms", Figure("keeper ready", "94.1 ms", "")),
        ("odd: the process exited with code 3", None),
    ],
)
def test_the_summary_reads_the_lines_of_the_benches(line: str, figure: Figure | None) -> None:
    assert Figure.read(line) == figure


def test_every_page_is_in_the_index() -> None:
    index = page("README.md")
    for each in (ROOT / "docs").glob("*.md"):
        assert each.name == "README.md" or f"({each.name})" in index, each.name
