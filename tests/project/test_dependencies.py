"""What the package declares to need is what it imports."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
DECLARED: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
OURS = {"mcpyard"}
PARTS = {
    # Packages that come with one that is declared, and are a part of its interface.
    "mcp_types": "mcp",
    # Several distributions have packages below this name; the one that is imported is this.
    "google": "google-genai",
    "pydantic_core": "pydantic",
}


def imports() -> Iterator[str]:
    """The top names of every import of the package, also of those for type checkers alone."""
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                yield from (each.name.split(".")[0] for each in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                yield node.module.split(".")[0]


def distributions() -> set[str]:
    """The distributions that the package's imports come from."""
    by_package = packages_distributions()
    foreign = {each for each in imports() if each not in sys.stdlib_module_names} - OURS
    return {
        PARTS.get(each) or named(name) for each in foreign for name in by_package.get(each, [each])
    }


def named(requirement: str) -> str:
    return re.split(r"[\[<>=;~! ]", requirement, maxsplit=1)[0].lower().replace("_", "-")


def declared() -> tuple[set[str], set[str]]:
    optional = DECLARED["optional-dependencies"].values()
    always = {named(each) for each in DECLARED["dependencies"]}
    return always, {named(each) for extra in optional for each in extra}


def test_everything_that_is_imported_is_declared() -> None:
    always, extras = declared()
    assert distributions() <= always | extras


def test_everything_that_every_installation_gets_is_used() -> None:
    always, _ = declared()
    assert always <= distributions()
