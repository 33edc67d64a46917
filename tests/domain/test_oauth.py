"""What a definition says of our registration where people sign in."""

import pytest

from mcpyard.domain.definition.launch import (
    OAuthValues,
    RemoteLaunch,
    Unlaunchable,
    digest,
    make_launch,
)
from mcpyard.domain.definition.merge import merged, plain
from mcpyard.domain.definition.parsing import read_definition
from mcpyard.domain.definition.secrets import secrets_of
from mcpyard.domain.errors import DefinitionError
from mcpyard.domain.model import LocalConfig

FAR = {"type": "http", "url": "https://far.example/mcp"}
MINE = {"clientId": "mine", "clientSecret": "${HUSH}", "metadataUrl": "https://me.example/me.json"}
VALUES = {"HUSH": "hush-hush"}


def far(**oauth: object) -> dict[str, object]:
    return {**FAR, "oauth": oauth}


def launched(raw: object) -> RemoteLaunch:
    launch = make_launch(read_definition(raw).config, VALUES.get)
    assert isinstance(launch, RemoteLaunch)
    return launch


def test_all_of_it_reaches_the_launch_with_its_variables_filled_in() -> None:
    expected = OAuthValues("mine", "hush-hush", "https://me.example/me.json")
    assert launched(far(**MINE)).oauth == expected


def test_it_reads_back_as_it_was() -> None:
    config = read_definition(far(**MINE)).config
    assert plain(config)["oauth"] == MINE
    assert read_definition(plain(config)).config == config


def test_a_definition_without_it_says_nothing_of_it() -> None:
    assert "oauth" not in plain(read_definition(FAR).config)
    assert "oauth" not in plain(read_definition(far()).config)


def test_another_registration_is_another_launch() -> None:
    assert digest(launched(far(clientId="mine"))) != digest(launched(far(clientId="yours")))


def test_words_of_other_programs_are_passed_over_and_told() -> None:
    reading = read_definition(far(clientId="mine", callbackPort=8080))
    assert launched(far(clientId="mine", callbackPort=8080)).oauth == OAuthValues("mine")
    assert [str(each) for each in reading.warnings] == ["oauth.callbackPort: is unknown; ignored"]


def test_false_means_none() -> None:
    reading = read_definition({**FAR, "oauth": False})
    assert reading.warnings == ()
    assert "oauth" not in plain(reading.config)


@pytest.mark.parametrize(
    ("oauth", "message"),
    [
        ({"clientSecret": "hush"}, "oauth: clientSecret requires a clientId"),
        ({"clientId": 7}, "oauth.clientId: expected a string, found the number 7"),
        ({"metadataUrl": "http://me"}, "oauth.metadataUrl: must begin with https://"),
        ("mine", "oauth: expected an object, found a string"),
    ],
)
def test_what_is_wrong_is_told_by_its_name(oauth: object, message: str) -> None:
    with pytest.raises(DefinitionError) as refused:
        read_definition({**FAR, "oauth": oauth})
    assert message in str(refused.value)


def test_a_variable_that_is_not_set_is_told_with_its_field() -> None:
    launch = make_launch(read_definition(far(clientId="${NOBODY}")).config, VALUES.get)
    assert isinstance(launch, Unlaunchable)
    assert str(launch.problems[0]) == "oauth.clientId: the variable NOBODY is not set"


def test_a_local_server_has_no_use_for_it() -> None:
    reading = read_definition({"command": "x", "args": [], "transport": "stdio", "oauth": MINE})
    assert isinstance(reading.config, LocalConfig)
    assert [str(each) for each in reading.warnings] == ["oauth: does not apply to a local server"]


def test_the_secret_is_hidden_and_the_id_is_not() -> None:
    assert secrets_of(launched(far(clientId="my-long-id", clientSecret="hush-hush"))) == {
        "hush-hush"
    }


def test_a_secret_that_comes_back_masked_stays() -> None:
    config = read_definition(far(**MINE)).config
    patch = {"oauth": {"clientId": "other", "clientSecret": {"masked": True}, "metadataUrl": None}}
    changed = merged(config, patch).config
    assert plain(changed)["oauth"] == {"clientId": "other", "clientSecret": "${HUSH}"}
