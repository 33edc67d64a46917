"""Our web server overrides private parts of uvicorn: they are the ones it was written for."""

import ast
import inspect
import re
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest
import uvicorn

import mcpyard
from mcpyard.api.http_server.connection_limits import BoundedProtocol
from mcpyard.api.http_server.request_cycle import Cycle
from mcpyard.api.http_server.uvicorn_internals import (
    ATTRIBUTES,
    METHODS,
    WRITTEN_FOR,
    HttpToolsProtocol,
    RequestResponseCycle,
)

ROOT = Path(__file__).parents[2]
SOURCE = Path(mcpyard.__file__).parent
OVERRIDES = {BoundedProtocol: HttpToolsProtocol, Cycle: RequestResponseCycle}


def of_self(kind: type, *, assigned: bool = False) -> set[str]:
    """The attributes of `self` that the text of a class uses, or only those it assigns."""
    return {
        node.attr
        for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(kind))))
        if isinstance(node, ast.Attribute)
        and ast.unparse(node.value) == "self"
        and (not assigned or isinstance(node.ctx, ast.Store))
    }


def parameters(method: object) -> str:
    assert inspect.isfunction(method)
    return ", ".join(inspect.signature(method).parameters)


def test_the_installed_uvicorn_has_the_minor_version_that_the_overrides_were_written_for() -> None:
    assert uvicorn.__version__.rpartition(".")[0] == WRITTEN_FOR


WHOLE = """
import sys
import mcpyard.api.http_server.uvicorn_server
assert "uvicorn.main" not in sys.modules
import uvicorn
print(uvicorn.__version__, uvicorn.Server.__module__, "uvicorn.main" in sys.modules)
from uvicorn import Config, run
from uvicorn.config import Config as same
print(Config is same, run.__module__)
"""


def test_others_find_all_of_uvicorn_though_the_server_loads_only_parts() -> None:
    ran = subprocess.run([sys.executable, "-c", WHOLE], capture_output=True, text=True, check=True)
    version = uvicorn.__version__
    assert ran.stdout.splitlines() == [f"{version} uvicorn.server True", "True uvicorn.main"]


def test_a_program_that_has_uvicorn_keeps_it_as_it_is() -> None:
    program = "import uvicorn; import mcpyard.api.http_server; print(len(uvicorn.__all__))"
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == str(len(uvicorn.__all__))


def test_the_project_allows_only_the_minor_version_that_the_overrides_were_written_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (allowed,) = [each for each in project["dependencies"] if each.startswith("uvicorn")]
    major, minor = map(int, WRITTEN_FOR.split("."))
    assert allowed == f"uvicorn>={WRITTEN_FOR},<{major}.{minor + 1}"
    for name in ("requirements.txt", "requirements-dev.txt"):
        assert f"\nuvicorn=={WRITTEN_FOR}." in (ROOT / name).read_text()


@pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.__name__)
def test_the_methods_have_the_parameters_that_they_had(kind: type) -> None:
    signatures = {name: parameters(vars(kind).get(name)) for name in METHODS[kind]}
    assert signatures == METHODS[kind]


@pytest.mark.parametrize("kind", ATTRIBUTES, ids=lambda kind: kind.__name__)
def test_the_attributes_are_still_set(kind: type) -> None:
    assert ATTRIBUTES[kind] - of_self(kind, assigned=True) == set()


def test_a_cycle_of_ours_has_every_attribute_that_one_of_uvicorn_has() -> None:
    assert of_self(RequestResponseCycle, assigned=True) == ATTRIBUTES[RequestResponseCycle]
    ours = of_self(Cycle, assigned=True) | vars(Cycle).keys() | Cycle.__annotations__.keys()
    # Without an access log nobody looks for its logger.
    assert not Cycle.access_log
    assert ATTRIBUTES[RequestResponseCycle] - ours == {"access_logger"}


@pytest.mark.parametrize("kind", OVERRIDES, ids=lambda kind: kind.__name__)
def test_every_inherited_name_that_an_override_uses_is_in_the_tables(kind: type) -> None:
    base = OVERRIDES[kind]
    inherited = of_self(base) | {name for name in vars(base) if not name.startswith("__")}
    used = (of_self(kind) | vars(kind).keys()) & inherited
    assert used - METHODS[base].keys() - ATTRIBUTES[base] == set()


def test_only_one_module_imports_private_parts_of_uvicorn() -> None:
    importing = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if re.search(r"^\s*(from|import) uvicorn\.", path.read_text(), re.MULTILINE)
    }
    assert importing == {"api/http_server/uvicorn_internals.py"}
