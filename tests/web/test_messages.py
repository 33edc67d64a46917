"""What the program says of itself, in the reader's language."""

import re

import msgspec
import pytest

from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.errors import (
    EDGES,
    NameTaken,
    Problem,
    YardError,
)
from mcpyard.domain.model import LocalConfig, RemoteConfig
from mcpyard.formats.lint import lint
from mcpyard.formats.registry import client_of
from mcpyard.formats.warnings import Warned, WarningKind
from mcpyard.web import messages
from mcpyard.web.catalogues import LANGUAGES, words_in
from mcpyard.web.messages import Message
from mcpyard.yard.views.servers import ServerView, cause_view
from tests.formats.clients.standing import around, texts
from tests.yard.sample_views import sample_server

CHINESE = [each for each in LANGUAGES if each != "en"]
HAN = re.compile("[\u4e00-\u9fff]")
LOCAL = sample_server(LocalConfig(command=["/opt/serve"]), name="mine")
REMOTE = sample_server(RemoteConfig(url="https://me:pw@far.example:8443/mcp"), name="far")
CODEX = """[mcp_servers.docs]
command = "x"
colour = 1
env = { API_TOKEN = "hunter2", MODE = "${MODE}" }
"""


def why(server: ServerView, cause: Cause, language: str) -> Message:
    return messages.told_cause(
        msgspec.structs.replace(server, error=cause_view(cause)), words_in(language)
    )


@pytest.mark.parametrize("language", CHINESE)
@pytest.mark.parametrize("code", Code)
def test_every_cause_is_told_with_what_to_do_and_the_english_as_a_detail(
    code: Code, language: str
) -> None:
    for record in (LOCAL, REMOTE):
        said = why(record, Cause(code, "the port 8712 is odd", "Do this."), language)
        assert HAN.search(said.says)
        assert HAN.search(said.todo)
        assert said.detail.startswith("the port 8712 is odd")
        assert "{" not in said.says + said.todo.replace("${NAME:-", "")


@pytest.mark.parametrize("code", Code)
def test_in_english_a_cause_speaks_for_itself_and_never_without_what_to_do(code: Code) -> None:
    own = why(LOCAL, Cause(code, "so it is", "Do this."), "en")
    assert (own.detail, own.todo) == ("so it is", "Do this.")
    assert why(LOCAL, Cause(code, "so it is"), "en").todo


def test_the_server_is_named_by_its_command_or_its_host_and_never_by_a_secret() -> None:
    missing = Cause(Code.COMMAND_MISSING, "was not found")
    assert "/opt/serve" in why(LOCAL, missing, "zh-Hans").says
    refused = why(REMOTE, Cause(Code.UNREACHABLE, "nothing listens"), "zh-Hant").says
    assert "far.example:8443" in refused
    assert "pw" not in refused
    broken = msgspec.structs.replace(REMOTE, url="http://[broken")
    odd = why(broken, Cause(Code.UNREACHABLE, "x"), "zh-Hans").says
    assert "该服务" in odd


def test_a_command_that_a_package_brings_is_told_with_the_package() -> None:
    missing = Cause(Code.COMMAND_MISSING, "was not found")
    said = why(sample_server(command="/usr/bin/npx"), missing, "zh-Hans").todo
    assert "Node.js" in said
    assert "npx" in said
    assert "/usr/bin" not in said


def test_a_server_that_brings_a_token_is_not_sent_to_sign_in() -> None:
    wanted = Cause(Code.NEEDS_AUTH, "HTTP 401")
    assert "mcpyard login far" in why(REMOTE, wanted, "zh-Hant").todo
    given = msgspec.structs.replace(REMOTE, headers={"authorization": "Bearer ${T}"})
    assert "Authorization" in why(given, wanted, "zh-Hant").todo


def test_a_hint_that_knows_more_than_its_code_is_kept() -> None:
    cause = Cause(Code.UNREACHABLE, "is not trusted", "Point SSL_CERT_FILE at it.")
    assert why(REMOTE, cause, "zh-Hans").detail == "is not trusted. Point SSL_CERT_FILE at it."


@pytest.mark.parametrize("language", CHINESE)
def test_a_finding_keeps_its_names_in_every_language(language: str) -> None:
    files = texts({"~/.codex/config.toml": CODEX}, 0o644)
    found = {each.code: each for each in lint(client_of("codex"), around(), files)}
    said = {code: messages.told_finding(each, words_in(language)) for code, each in found.items()}
    reference, secret = said["foreign-reference"], said["secret-readable"]
    for name in ("env.MODE", "MODE", "Codex"):
        assert name in reference.says
    assert "env.API_TOKEN" in secret.says
    assert "chmod 600" in secret.todo
    assert "env_vars" in secret.todo
    assert all(HAN.search(each.says) and HAN.search(each.todo) for each in said.values())
    assert "hunter2" not in str(said)


def test_what_only_the_english_knows_of_a_finding_follows_it() -> None:
    files = texts({"~/.gemini/settings.json": '{"mcpServers": '})
    [finding] = lint(client_of("gemini"), around(), files)
    said = messages.told_finding(finding, words_in("zh-Hans"))
    assert said.detail == finding.message
    assert messages.told_finding(finding, words_in("en")) == Message(finding.message, finding.hint)


@pytest.mark.parametrize("language", CHINESE)
@pytest.mark.parametrize("kind", EDGES)
def test_every_error_is_told_with_what_to_do(kind: type[YardError], language: str) -> None:
    said = messages.told_error(kind("why it is so"), words_in(language))
    assert HAN.search(said.says)
    assert HAN.search(said.todo)
    assert said.detail == "why it is so"
    assert messages.told_error(kind("why it is so"), words_in("en")) == Message("why it is so")


def test_an_error_of_no_edge_is_told_too() -> None:
    assert "mcpyard" in messages.told_error(YardError("odd"), words_in("zh-Hans")).says


def test_an_error_on_one_line_has_its_english_in_brackets() -> None:
    said = messages.told_error(NameTaken('"a" is taken'), words_in("zh-Hans"))
    assert said.line == '名称已被使用 ("a" is taken)'
    assert Message("only this").line == "only this"


@pytest.mark.parametrize("kind", WarningKind)
def test_a_warning_is_told_by_its_kind(kind: WarningKind) -> None:
    warned = Warned(kind, "env", "an object of 2", "why")
    said = messages.told_warned(warned, words_in("zh-Hant"))
    assert HAN.search(said.says)
    assert said.detail == "an object of 2: why"
    assert messages.told_warned(warned, words_in("en")) == Message("an object of 2: why")


def test_a_note_names_its_field_without_the_way_to_it() -> None:
    note = Problem("mcpServers.mine.colour", "is unknown; passed over")
    said = messages.told_note(note, "mine", words_in("zh-Hans"))
    assert "字段 colour 不起作用" in said.says
    assert said.detail == str(note)
    assert messages.told_note(note, "mine", words_in("en")) == Message(str(note))
