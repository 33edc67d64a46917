"""The build hook: fetches the page's scripts of others when they are missing, and only then."""

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
WEB = Path("src/mcpyard/web")
GOOD_NPM = """#!/bin/sh
for each in {files}; do
  mkdir -p "node_modules/$(dirname $each)"
  echo "$*" > "node_modules/$each"
done
"""
BAD_NPM = """#!/bin/sh
echo "the registry is not reachable" >&2
exit 7
"""


class Interface:
    """Stands in for hatchling's, which a build brings with it."""

    def __init__(self, root: str) -> None:
        self.root = root


@pytest.fixture
def hook(monkeypatch: pytest.MonkeyPatch) -> Any:  # noqa: ANN401  a module
    """The hook's module."""
    name = "hatchling.builders.hooks.plugin.interface"
    parts = name.split(".")
    for count in range(1, len(parts) + 1):
        monkeypatch.setitem(sys.modules, ".".join(parts[:count]), ModuleType(parts[count - 1]))
    monkeypatch.setattr(sys.modules[name], "BuildHookInterface", Interface, raising=False)
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A clean checkout, as far as the hook looks at it."""
    (tmp_path / WEB).mkdir(parents=True)
    for name in ("package.json", "package-lock.json"):
        (tmp_path / WEB / name).write_bytes((ROOT / WEB / name).read_bytes())
    return tmp_path


@pytest.fixture
def npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Puts an npm of the test's own in the place of the machine's, or none."""

    def put(script: str) -> None:
        folder = tmp_path / "bin"
        folder.mkdir(exist_ok=True)
        if script:
            (folder / "npm").write_text(script)
            (folder / "npm").chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin" if script else str(folder))

    return put


def build(hook: Any, checkout: Path) -> dict[str, Any]:  # noqa: ANN401  a module
    data: dict[str, Any] = {"artifacts": []}
    hook.PageHook(str(checkout)).initialize("standard", data)
    return data


def test_a_clean_checkout_gets_the_files_by_npm_and_a_second_build_needs_none(
    hook: Any,  # noqa: ANN401  a module
    checkout: Path,
    npm: Callable[[str], None],
) -> None:
    npm(GOOD_NPM.format(files=" ".join(hook.FILES.values())))
    assert hook.PageHook(str(checkout)).dependencies() == []
    assert build(hook, checkout) == {"artifacts": [f"/{hook.VENDOR}/"]}
    fetched = (checkout / hook.VENDOR / "htmx.min.js").read_text()
    assert fetched.startswith("ci ")
    npm(BAD_NPM)
    build(hook, checkout)
    assert (checkout / hook.VENDOR / "htmx.min.js").read_text() == fetched


def test_another_lock_has_them_fetched_anew(
    hook: Any,  # noqa: ANN401  a module
    checkout: Path,
    npm: Callable[[str], None],
) -> None:
    npm(GOOD_NPM.format(files=" ".join(hook.FILES.values())))
    build(hook, checkout)
    lock = checkout / WEB / "package-lock.json"
    lock.write_text(lock.read_text() + "\n")
    npm(BAD_NPM)
    with pytest.raises(SystemExit):
        build(hook, checkout)


def test_a_machine_without_npm_is_given_a_node_of_the_builds_own(
    hook: Any,  # noqa: ANN401  a module
    checkout: Path,
    npm: Callable[[str], None],
) -> None:
    npm("")
    assert hook.PageHook(str(checkout)).dependencies() == [hook.NODE]


def test_a_build_that_cannot_have_them_says_so(
    hook: Any,  # noqa: ANN401  a module
    checkout: Path,
    npm: Callable[[str], None],
) -> None:
    npm(BAD_NPM)
    with pytest.raises(SystemExit, match="cannot be fetched") as exit_info:
        build(hook, checkout)
    assert "the registry is not reachable" in str(exit_info.value)
    assert "Install Node.js" in str(exit_info.value)


def test_the_lock_names_versions_and_digests_but_no_address() -> None:
    lock = (ROOT / WEB / "package-lock.json").read_text()
    assert '"integrity"' in lock
    assert "resolved" not in lock
    assert "://" not in lock
