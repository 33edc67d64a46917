"""What the program says of itself, in the reader's language."""

import json
import re
from pathlib import Path

import msgspec
import pytest

from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.edges import EDGES
from mcpyard.domain.errors import NameTaken, Problem, YardError
from mcpyard.domain.model import LocalConfig
from mcpyard.formats.lint import lint
from mcpyard.formats.registry import client_of
from mcpyard.formats.warnings import Warned, WarningKind
from mcpyard.web import messages
from mcpyard.web.catalogues import LANGUAGES, words_in
from mcpyard.web.filters import short
from mcpyard.web.messages import Message
from mcpyard.web.sentences import Translated
from mcpyard.yard.views.servers import ServerView, cause_view
from tests.formats.clients.evaluations import host, texts
from tests.yard.sample_views import sample_server

CHINESE = [each for each in LANGUAGES if each != "en"]
HAN = re.compile("[\u4e00-\u9fff]")
BLANK = re.compile(r"\{(\w+)\}")
PLAIN = {"HTTP {status}", "true", "false"}
"""Sentences that are alike in every language."""
LOCAL = sample_server(LocalConfig(command=["/opt/serve"]), name="mine")
CODEX = """[mcp_servers.docs]
command = "x"
colour = 1
env = { API_TOKEN = "hunter2", MODE = "${MODE}" }
"""


def sentences(language: str) -> dict[str, str]:
    path = Path(messages.__file__).with_name("catalogues") / f"sentences.{language}.json"
    return json.loads(path.read_text(encoding="utf-8"))


def blanks(text: str) -> set[str]:
    return set(BLANK.findall(text))


def why(server: ServerView, cause: Cause, language: str) -> Message:
    failed = msgspec.structs.replace(server, error=cause_view(cause))
    return messages.cause_message(failed, words_in(language))


@pytest.mark.parametrize("language", CHINESE)
@pytest.mark.parametrize("code", Code)
def test_every_cause_is_told_with_what_to_do(code: Code, language: str) -> None:
    message = why(LOCAL, Cause(code, "the port 8712 is odd"), language)
    assert HAN.search(message.says)
    assert HAN.search(message.todo)
    assert message.detail == "the port 8712 is odd"
    assert "{" not in message.says + message.todo


@pytest.mark.parametrize("code", Code)
def test_in_english_a_cause_speaks_for_itself_and_never_without_what_to_do(code: Code) -> None:
    own = why(LOCAL, Cause(code, "so it is", "Do this."), "en")
    assert (own.detail, own.todo) == ("so it is", "Do this.")
    assert why(LOCAL, Cause(code, "so it is"), "en").todo


def test_a_process_that_exited_is_told_with_its_code_and_said_once() -> None:
    cause = Cause(Code.EXITED, "the process exited with code 7")
    assert why(LOCAL, cause, "en") == Message(
        "Process exited (code 7)", "Check the last log lines, or run the command in a terminal."
    )
    assert "代码 7" in why(LOCAL, cause, "zh-Hans").says


@pytest.mark.parametrize(("by", "name"), [("SIGKILL", "SIGKILL"), ("signal 63", "63")])
def test_a_process_that_was_killed_is_told_with_its_signal(by: str, name: str) -> None:
    cause = Cause(Code.EXITED, f"the process was killed by {by}")
    assert why(LOCAL, cause, "en").says == f"Process killed ({name})"
    assert name in why(LOCAL, cause, "zh-Hans").says


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_only_repeats_the_name_of_a_cause_is_not_said_twice(language: str) -> None:
    assert why(LOCAL, Cause(Code.NEEDS_AUTH, "Sign-in required"), language).detail == ""


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_line_of_a_cause_says_nothing_twice(language: str) -> None:
    missing = why(LOCAL, Cause(Code.COMMAND_MISSING, 'command not found: "npxx"'), language)
    assert missing.summary == missing.detail
    refused = why(LOCAL, Cause(Code.UNREACHABLE, "Connection refused: http://h"), language)
    assert refused.summary == f"{refused.says}: {refused.detail}"
    assert why(LOCAL, Cause(Code.NEEDS_AUTH, "Sign-in required"), language).summary


@pytest.mark.parametrize("language", CHINESE)
def test_a_hint_that_knows_more_than_its_code_is_translated(language: str) -> None:
    cause = Cause(Code.COMMAND_MISSING, 'command not found: "npx"', "Install Node.js.")
    message = why(LOCAL, cause, language)
    assert HAN.search(message.detail)
    assert "npx" in message.detail
    assert HAN.search(message.todo)
    assert "Node.js" in message.todo


@pytest.mark.parametrize("language", CHINESE)
def test_a_finding_keeps_its_names_in_every_language(language: str) -> None:
    files = texts({"~/.codex/config.toml": CODEX}, 0o644)
    findings = {each.code: each for each in lint(client_of("codex"), host(), files)}
    sentences = {
        code: messages.finding_message(each, words_in(language)) for code, each in findings.items()
    }
    reference, secret = sentences["foreign-reference"], sentences["secret-readable"]
    for name in ("env.MODE", "MODE", "Codex"):
        assert name in reference.says
    assert "env.API_TOKEN" in secret.says
    assert "chmod 600" in secret.todo
    assert "env_vars" in secret.todo
    assert all(HAN.search(each.says) and HAN.search(each.todo) for each in sentences.values())
    assert "hunter2" not in str(sentences)


def test_what_is_wrong_with_a_file_follows_its_finding() -> None:
    files = texts({"~/.gemini/settings.json": '{"mcpServers": '})
    [finding] = lint(client_of("gemini"), host(), files)
    message = messages.finding_message(finding, words_in("zh-Hans"))
    assert HAN.search(message.detail)
    assert messages.finding_message(finding, words_in("en")) == Message(
        finding.message, finding.hint
    )


@pytest.mark.parametrize("language", CHINESE)
@pytest.mark.parametrize("kind", EDGES)
def test_every_error_is_told_with_what_to_do(kind: type[YardError], language: str) -> None:
    message = messages.error_message(kind("why it is so"), words_in(language))
    assert HAN.search(message.says)
    assert HAN.search(message.todo)
    assert message.detail == "why it is so"
    assert messages.error_message(kind("why it is so"), words_in("en")) == Message("why it is so")


def test_an_error_of_no_edge_is_told_too() -> None:
    assert "mcpyard" in messages.error_message(YardError("odd"), words_in("zh-Hans")).says


def test_an_error_whose_sentence_is_known_is_told_by_it_alone() -> None:
    message = messages.error_message(NameTaken('the name "a" is in use'), words_in("zh-Hans"))
    assert message.line == "名称“a”已被使用"
    assert Message("only this").line == "only this"
    assert Message("this", "", "why").line == "this (why)"


def test_what_was_not_written_here_stays_as_it_is_and_is_marked() -> None:
    text = "HTTP 500: the server redirects to <b>, which is not followed"
    translation = words_in("zh-Hans").say(text)
    assert isinstance(translation, Translated)
    assert not translation.foreign
    assert translation.markup(400).endswith('<span translate="no">&lt;b&gt;</span>\uff0c不予跟随')
    foreign = words_in("zh-Hans").say("Traceback: out of cheese")
    assert str(foreign) == "Traceback: out of cheese"
    assert short(foreign, 5) == '<span translate="no">Trace</span>…'


def test_a_sentence_is_found_behind_the_name_of_what_it_is_about() -> None:
    translation = words_in("zh-Hans").say("/a/b.json:3:4: env.A: must not be empty")
    assert translation == "/a/b.json:3:4\uff1aenv.A\uff1a不能为空"


@pytest.mark.parametrize("language", CHINESE)
def test_every_sentence_of_the_catalogue_is_found_by_its_english(language: str) -> None:
    entries = sentences(language)
    assert entries.keys() == sentences(CHINESE[0]).keys()
    for english, other in entries.items():
        assert blanks(english) == blanks(other), english
        filled = BLANK.sub("7", english)
        translation = words_in(language).say(filled)
        assert isinstance(translation, Translated)
        assert english in PLAIN or not translation.foreign, english


@pytest.mark.parametrize("language", CHINESE)
def test_no_text_however_hostile_takes_long_to_be_looked_up(language: str) -> None:
    for text in (": " * 900, "; : " * 400, 'the server "' * 150, "x" * 100_000):
        assert str(words_in(language).say(text))


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_warning_is_told_by_its_sentence(language: str) -> None:
    warned = Warned(
        WarningKind.UNSUPPORTED, "env", "an object of 2", "not supported by Codex: dropped"
    )
    message = messages.warning_message(warned, words_in(language))
    assert "Codex" in message.says
    assert bool(HAN.search(message.says)) == (language != "en")


def test_a_note_names_its_field_without_the_way_to_it() -> None:
    note = Problem("mcpServers.mine.colour", "is unknown; ignored")
    message = messages.note_message(note, "mine", words_in("zh-Hans"))
    assert message == Message("colour\uff1a未知\uff1b已忽略")
    assert messages.note_message(note, "mine", words_in("en")) == Message(str(note))
