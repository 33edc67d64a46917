"""Docs that lie fail the build."""

import re
import subprocess
import sys
from pathlib import Path

import mcpyard

ROOT = Path(__file__).parents[2]


def test_the_generated_pages_are_fresh() -> None:
    finished = subprocess.run(
        [sys.executable, ROOT / "scripts" / "docs", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (finished.returncode, finished.stdout) == (0, "")


def test_the_changelog_begins_with_this_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text()
    newest = re.search(r"^## (\S+)", changelog, re.MULTILINE)
    assert newest is not None
    assert newest.group(1) == mcpyard.__version__


def test_every_folder_of_the_package_says_what_it_owns() -> None:
    for folder in (ROOT / "src" / "mcpyard").rglob("__init__.py"):
        assert folder.read_text().startswith('"""'), folder


def pages() -> list[Path]:
    return [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]


def headings(page: Path) -> set[str]:
    """The anchors of a page, as GitHub makes them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in titles}


def test_every_link_of_the_docs_leads_somewhere() -> None:
    for page in pages():
        for target, anchor in re.findall(r"\]\((?!http)([^)#]*)(?:#([^)]+))?\)", page.read_text()):
            file = page.parent / target if target else page
            assert file.exists(), f"{page.name}: {target}"
            assert not anchor or anchor in headings(file), f"{page.name}: {target}#{anchor}"


def test_every_file_that_the_architecture_names_is_there() -> None:
    named = re.findall(r"`([a-z_/]+\.py)`", (ROOT / "docs" / "architecture.md").read_text())
    assert len(named) > 40
    folders = (ROOT / "src" / "mcpyard", ROOT)
    assert [each for each in named if not any((at / each).exists() for at in folders)] == []


def test_the_layers_on_the_page_are_those_that_the_build_holds() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    diagram = re.search(r"^## Layers.*?^```\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    held = re.search(
        r"^layers =\n(.*?)^exhaustive",
        (ROOT / ".importlinter").read_text(),
        re.MULTILINE | re.DOTALL,
    )
    assert diagram
    assert held
    assert diagram[1].split() == held[1].split()


def test_every_picture_of_the_docs_is_there() -> None:
    for page in pages():
        for target in re.findall(r"(?:src|srcset)=\"(?!http)([^\"]+)\"", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
