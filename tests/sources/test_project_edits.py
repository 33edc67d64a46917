import json
import re
from pathlib import Path

import pytest

from mcpyard.domain.errors import DocumentBroken, DocumentMoved, NameTaken, ServerUnknown
from mcpyard.domain.model import LocalConfig, RemoteConfig
from mcpyard.sources.project_file import ProjectFile

ECHO = LocalConfig(command=["echo"])
TEXT = """{
  // mine
  "mcpServers": {
    "a": {"type": "stdio", "command": "echo", "args": []}
  }
}
"""


def names(source: ProjectFile) -> list[str]:
    return [each.name for each in source.document().definitions]


async def opened(folder: Path) -> tuple[ProjectFile, list[int]]:
    woken: list[int] = []
    source = ProjectFile(folder)
    await source.open(lambda: woken.append(1))
    return source, woken


async def test_a_definition_is_added_changed_renamed_and_removed_and_comments_stay(
    tmp_path: Path,
) -> None:
    path = tmp_path / ".mcp.json"
    path.write_text(TEXT)
    source, woken = await opened(tmp_path)
    try:
        await source.add({"b": RemoteConfig(url="http://h")})
        assert names(source) == ["a", "b"]
        assert woken
        await source.put("a", LocalConfig(command=["echo", "x"]), ECHO)
        await source.rename("b", "c")
        assert names(source) == ["a", "c"]
        assert "// mine" in path.read_text()
        await source.remove("c")
        await source.put("a", ECHO, LocalConfig(command=["echo", "x"]))
        assert path.read_text() == TEXT
    finally:
        await source.close()


async def test_a_file_that_is_not_there_is_made_by_the_first_definition(tmp_path: Path) -> None:
    source, _ = await opened(tmp_path)
    try:
        await source.add({"a": ECHO})
        assert [*json.loads((tmp_path / ".mcp.json").read_text())["mcpServers"]] == ["a"]
    finally:
        await source.close()


async def test_what_somebody_else_did_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / ".mcp.json"
    path.write_text(TEXT)
    source, _ = await opened(tmp_path)
    try:
        refused = await source.add({"a": ECHO})
        assert [str(each) for each in refused.values()] == [f'the name "a" is in use in {path}']
        with pytest.raises(DocumentMoved):
            await source.put("a", ECHO, LocalConfig(command=["other"]))
        with pytest.raises(DocumentMoved):
            await source.put("gone", ECHO, ECHO)
        with pytest.raises(NameTaken):
            await source.rename("a", "a")
        with pytest.raises(ServerUnknown):
            await source.remove("gone")
        assert path.read_text() == TEXT
    finally:
        await source.close()


async def test_an_edit_of_a_broken_file_is_refused_with_the_name_of_the_file(
    tmp_path: Path,
) -> None:
    path = tmp_path / ".mcp.json"
    path.write_text('{"mcpServers": ')
    source, _ = await opened(tmp_path)
    try:
        with pytest.raises(DocumentBroken, match=f"^{re.escape(str(path))}:1:16: "):
            await source.add({"b": ECHO})
    finally:
        await source.close()


async def test_a_folder_in_place_of_the_file_is_told_with_its_name(tmp_path: Path) -> None:
    path = tmp_path / ".mcp.json"
    path.mkdir()
    source, _ = await opened(tmp_path)
    try:
        assert [str(each) for each in source.document().problems] == [
            f"{path}: cannot be read: Is a directory"
        ]
    finally:
        await source.close()


async def test_a_link_that_leads_to_itself_is_told_with_its_name(tmp_path: Path) -> None:
    path = tmp_path / ".mcp.json"
    path.symlink_to(path)
    source, _ = await opened(tmp_path)
    try:
        message = f"{path}: cannot be read: Too many levels of symbolic links"
        assert [str(each) for each in source.document().problems] == [message]
        with pytest.raises(DocumentBroken, match=f"^{re.escape(message)}$"):
            await source.add({"b": ECHO})
    finally:
        await source.close()
