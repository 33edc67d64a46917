"""Docs that lie fail the build."""

import re
import subprocess
import sys
from pathlib import Path

import mcpyard
from mcpyard import LocalConfig, RemoteConfig

ROOT = Path(__file__).parents[2]


def test_the_generated_pages_are_fresh() -> None:
    found = subprocess.run(
        [sys.executable, ROOT / "scripts" / "docs", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (found.returncode, found.stdout) == (0, "")


def test_the_changelog_begins_with_this_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text()
    newest = re.search(r"^## (\S+)", changelog, re.MULTILINE)
    assert newest is not None
    assert newest.group(1) == mcpyard.__version__


def test_every_folder_of_the_package_says_what_it_owns() -> None:
    for folder in (ROOT / "src" / "mcpyard").rglob("__init__.py"):
        assert folder.read_text().startswith('"""'), folder


def test_every_link_of_the_docs_leads_somewhere() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
    for page in pages:
        for target in re.findall(r"\]\((?!http|#)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_every_field_of_a_definition_is_documented() -> None:
    page = (ROOT / "docs" / "definitions.md").read_text()
    for model in (LocalConfig, RemoteConfig):
        for name, info in model.model_fields.items():
            assert f"`{info.alias or name}`" in page, name


def test_the_python_snippets_of_the_readme_run() -> None:
    snippets = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert snippets
    for snippet in snippets:
        expected = re.findall(r"print\(.*?\)  # (.*)", snippet)
        ran = subprocess.run(
            [sys.executable, "-c", snippet], capture_output=True, text=True, check=True
        )
        assert not expected or ran.stdout.split("\n")[: len(expected)] == expected
