"""The first steps of docs/cluster.md, run as they stand.

Whoever runs them has PostgreSQL and mcpyard installed already, on free ports; nothing else differs.
"""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import psutil
import pytest

from tests.postgres import Postgres, program, running
from tests.process_families import all_gone
from tests.project.test_readme import fits

pytestmark = [pytest.mark.real, pytest.mark.timeout(180)]

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "cluster.md"
PROGRAMS = Path(sys.executable).parent
MARK = "--- the end of a block ---"
SHIMS = {
    # The last of two equal options counts.
    "mcpyard": """case "$1" in up) set -- "$@" --port 0 --node-listen 127.0.0.1:0;; esac
exec "{programs}/mcpyard" "$@" """,
    "sudo": """case "$1" in apt | service) exit 0;; esac
shift 2; exec "$@" -h 127.0.0.1 -U postgres""",
    "python3": """[ "$*" = "-m venv .venv" ] && mkdir -p .venv/bin && touch .venv/bin/activate
printf '#!/bin/sh\\n[ "$*" = "install .[cluster]" ]\\n' > .venv/bin/pip
chmod +x .venv/bin/pip""",
}


def first_steps() -> list[tuple[str, list[str]]]:
    """The commands of the section, and what each block shows."""
    section = (
        PAGE.read_text().partition("\n## Three nodes on one laptop\n")[2].partition("\n## ")[0]
    )
    blocks = re.findall(r"^```(sh|text)\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    steps: list[tuple[str, list[str]]] = []
    for language, block in blocks:
        if language == "sh":
            steps.append((block, []))
        else:
            steps[-1] = (steps[-1][0], block.splitlines())
    return steps


def environment(folder: Path, postgres: Postgres) -> dict[str, str]:
    """A machine with everything installed."""
    for name, script in SHIMS.items():
        file = folder / "bin" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"#!/bin/sh\n{script.format(programs=PROGRAMS)}\n")
        file.chmod(0o755)
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("MCPYARD_", "XDG_", "PG"))}
    psql = program("psql")
    assert psql
    path = [str(folder / "bin"), str(PROGRAMS), str(psql.parent), os.environ["PATH"]]
    more = {"HOME": str(folder), "PATH": os.pathsep.join(path), "PGPORT": str(postgres.port)}
    return clean | more


def test_three_nodes_run_by_the_commands_of_the_page(tmp_path: Path) -> None:
    steps = first_steps()
    assert len(steps) > 5
    script = "set -e\n" + "".join(f"{commands}echo '{MARK}'\n" for commands, _ in steps)
    with running() as postgres:
        # The page makes a role of the name that the tests' own has.
        postgres.administer("CREATE ROLE postgres LOGIN SUPERUSER")
        rename = ["psql", "-h", "127.0.0.1", "-p", str(postgres.port), "-U", "postgres", "-q"]
        rename += ["-c", "ALTER ROLE mcpyard RENAME TO tests", "postgres"]
        subprocess.run(rename, check=True)
        ran = subprocess.run(
            ["bash", "-c", script],
            capture_output=True,
            text=True,
            check=False,
            timeout=150,
            cwd=tmp_path,
            env=environment(tmp_path, postgres),
        )
        nodes = [each.read_text() for each in tmp_path.rglob("n?.log")]
        assert ran.returncode == 0, (ran.stdout, ran.stderr, nodes)
        outputs = ran.stdout.split(f"{MARK}\n")[:-1]
        for (commands, pattern), output in zip(steps, outputs, strict=True):
            assert not pattern or fits(pattern, output), f"{commands}\n{output}"
        families = [each for each in psutil.process_iter(["environ"]) if _belongs(each, tmp_path)]
        assert all_gone(families, 20)


def _belongs(process: psutil.Process, folder: Path) -> bool:
    return (process.info["environ"] or {}).get("HOME") == str(folder)


def test_the_extra_that_the_page_installs_is_there() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert "cluster" in project["optional-dependencies"]
