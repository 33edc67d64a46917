"""The command line, in process where nothing is served."""

import json
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from mcpyard.legal.collection import corpus_file, default_folder
from mcpyard.legal.main import SOME_BROKEN, UNUSABLE, USAGE, main
from tests.legal.running import COMMAND


@pytest.fixture
def laws(tmp_path: Path) -> Path:
    folder = tmp_path / "laws"
    folder.mkdir()
    (folder / "甲法.md").write_text("# 甲法\n\n第一条 内容。")
    return folder


def test_an_import_shows_progress_and_what_it_did(
    tmp_path: Path, laws: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["import", str(laws), "--home", str(tmp_path), "--json"]
    assert main(arguments) == 0
    output = capsys.readouterr()
    assert output.err == "1/1 files\n"
    assert json.loads(output.out) == {
        "files": 1,
        "added": 1,
        "replaced": 0,
        "unchanged": 0,
        "removed": 0,
        "skipped": 0,
        "broken": [],
        "ignored": [],
        "notes": [],
    }
    assert main(arguments) == 0
    assert json.loads(capsys.readouterr().out)["unchanged"] == 1


def test_a_broken_file_is_named_and_the_exit_code_tells(
    tmp_path: Path, laws: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (laws / "乙法.md").write_text("# 乙法\n\n没有条文。")
    assert main(["--home", str(tmp_path), "import", str(laws)]) == SOME_BROKEN
    output = capsys.readouterr()
    assert "laws/乙法.md:3: no article" in output.err
    assert output.out == "2 files: 1 added, 0 replaced, 0 unchanged, 0 without text, 1 broken\n"


def test_a_folder_takes_the_place_of_what_was_imported_before_when_that_is_said(
    tmp_path: Path, laws: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = ["--home", str(tmp_path)]
    main([*home, "import", str(laws)])
    (laws / "甲法.md").rename(laws / "乙法.md").write_text("# 乙法\n\n第一条 内容。")
    capsys.readouterr()
    assert main([*home, "import", str(laws), "--replace"]) == 0
    counts = "1 added, 0 replaced, 0 unchanged, 1 taken out, 0 without text, 0 broken"
    assert capsys.readouterr().out == f"1 files: {counts}\n"
    (laws / "丙法.md").write_text("")
    assert main([*home, "import", str(laws), "--replace"]) == SOME_BROKEN
    assert "nothing was taken out" in capsys.readouterr().err


def test_nothing_to_import_leaves_no_trace(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "home"
    assert main(["import", str(tmp_path / "nowhere"), "--home", str(home)]) == USAGE
    assert "no such file or folder" in capsys.readouterr().err
    assert not home.exists()


def test_the_status_tells_the_sample_from_an_import(
    tmp_path: Path, laws: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = ["status", "--corpus", str(tmp_path / "corpus"), "--json"]
    assert main(status) == 0
    assert json.loads(capsys.readouterr().out)["sample"] is True
    main(["import", str(laws), "--corpus", str(tmp_path / "corpus")])
    capsys.readouterr()
    main(status)
    assert json.loads(capsys.readouterr().out) == {
        "corpus": str(tmp_path / "corpus" / "corpus.db"),
        "sample": False,
        "documents": {"statute": 1, "case": 0, "template": 0},
    }
    main(status[:-1])
    assert "1 statutes, 0 cases, 0 templates" in capsys.readouterr().out


def test_the_state_lives_in_the_home_of_mcpyard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCPYARD_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "legal"
    monkeypatch.setenv("MCPYARD_LEGAL_HOME", str(tmp_path / "passed"))
    assert default_folder() == tmp_path / "passed" / "legal"
    monkeypatch.delenv("MCPYARD_HOME")
    monkeypatch.delenv("MCPYARD_LEGAL_HOME")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert default_folder() == tmp_path / "data" / "mcpyard" / "legal"


@pytest.mark.parametrize(
    "arguments", [["--transport", "ftp"], ["--port", "99999"], ["--port", "soon"], ["export"]]
)
def test_wrong_usage_is_said(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == USAGE
    assert arguments[-1] in capsys.readouterr().err


def test_a_corpus_that_is_none_stops_the_command(
    tmp_path: Path, laws: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus_file(tmp_path).write_text("notes " * 200)
    assert main(["import", str(laws), "--corpus", str(tmp_path)]) == UNUSABLE
    assert "is not a corpus" in capsys.readouterr().err


@pytest.mark.real
def test_an_interrupt_ends_it_while_it_waits_for_its_client(tmp_path: Path) -> None:
    with subprocess.Popen(
        [*COMMAND, "--home", str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
        process.stdin.flush()
        assert process.stdout.readline()
        process.send_signal(signal.SIGINT)
        try:
            assert process.wait(20) == -signal.SIGINT
        finally:
            process.kill()


@pytest.mark.real
def test_a_port_that_is_taken_is_said(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        ran = subprocess.run(
            [*COMMAND, "--transport", "http", "--port", port, "--home", str(tmp_path)],
            capture_output=True,
            text=True,
            check=False,
        )
    assert ran.returncode == UNUSABLE
    assert "mcpyard-legal: " in ran.stderr
    assert "Traceback" not in ran.stderr
