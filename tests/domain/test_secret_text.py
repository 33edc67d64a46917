"""What counts as a secret in arguments, URLs and texts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.definition.launch import LocalLaunch, RemoteLaunch
from mcpyard.domain.definition.merge import merged
from mcpyard.domain.definition.secret_names import holds_secret
from mcpyard.domain.definition.secret_text import (
    MASKED,
    StillMasked,
    shown_args,
    shown_text,
    shown_url,
    unmasked_args,
)
from mcpyard.domain.definition.secrets import secrets_of, without_secrets
from mcpyard.domain.errors import DefinitionError
from mcpyard.domain.model import LocalConfig, RemoteConfig

pytestmark = pytest.mark.spec("F3.3")

GITHUB = "ghp_" + "a1B2" * 9
OPENAI = "sk-" + "proj-a1b2c3d4e5f6"
SLACK = "xoxb-" + "1234567890-abcdef"
AWS = "AKIA" + "IOSFODNN7EXAMPLE"
JWT = "eyJhbGciOiJI." + "eyJzdWIiOiIx.SflKxwRJSM"


@pytest.mark.parametrize(
    ("args", "masked"),
    [
        (["--token=abc"], ["--token=***"]),
        (["--api-key", "X", "--verbose"], ["--api-key", "***", "--verbose"]),
        (["-e", "KEY=x", "-e", "MODE=fast"], ["-e", "KEY=***", "-e", "MODE=***"]),
        (["-eKEY=x", "--env=KEY=x"], ["-eKEY=***", "--env=KEY=***"]),
        (["-e", "GITHUB_TOKEN", "node", "-e", "a=1"], ["-e", "GITHUB_TOKEN", "node", "-e", "a=1"]),
        (["postgres://u:PASS@h/db"], ["postgres://u:***@h/db"]),
        (["--header", "Authorization: Bearer x"], ["--header", "Authorization: ***"]),
        (["--header=X-Note:abc"], ["--header=X-Note:***"]),
        (["--header", "nothing"], ["--header", "nothing"]),
        ([GITHUB, OPENAI, SLACK, AWS, JWT], ["***"] * 5),
        (["-c", f"run --token=abc {GITHUB}"], ["-c", "run --token=*** ***"]),
        (['{"api_key": "abc"}'], ['{"api_key": "***"}']),
        (["--token", ""], ["--token", ""]),
        (["-HX-Api-Key: abc", "-H=X-Note"], ["-HX-Api-Key: ***", "-H=X-Note"]),
        (["-u", "me:pass", "--user", "a:b"], ["-u", "me:***", "--user", "a:***"]),
        (["--user=me:pass", "--user=1:1", "-u=a:b"], ["--user=me:***", "--user=1:1", "-u=a:***"]),
        (["--secret:abc", "/token:abc"], ["--secret:***", "/token:***"]),
        (["--token", "-a1b2c3d4e5f6a7b8"], ["--token", "***"]),
        (["--bearer", "abc", "--psk=abc"], ["--bearer", "***", "--psk=***"]),
    ],
)
def test_secrets_in_arguments_are_masked(args: list[str], masked: list[str]) -> None:
    assert shown_args(args) == masked
    assert shown_args(masked) == masked
    config = LocalConfig(command=["x", *args])
    assert merged(config, {"args": masked}).config == config
    assert merged(config, {"command": ["x", *masked]}).config == config


@pytest.mark.parametrize(
    "args",
    [
        ["--token=${TOKEN}", "--api-key", "$API_KEY", "--header", "Authorization: Bearer ${A}"],
        ["--max-tokens", "100", "--key-file", "/a/b", "--token-url=https://h/a"],
        ["-y", "@scope/server-github@1.2.3", "--port=80", "--token", "--verbose"],
        ["--token", "--enable-http2-support-now", "-u", "1000:1000", "--user", "node:node", "-u"],
        ["--user", "http://h/a", "/a/b:c", "-v:/data"],
    ],
)
def test_references_and_ordinary_arguments_are_shown(args: list[str]) -> None:
    assert shown_args(args) == args


@pytest.mark.parametrize(
    ("url", "masked"),
    [
        ("postgres://u:p@ss@h/db", "postgres://u:***@h/db"),
        (f"https://{GITHUB}@h/x", "https://***@h/x"),
        ("https://a1b2c3d4e5f6a7b8@h/x", "https://***@h/x"),
        ("https://h/api/s/NjY4YTc2MDgtNGQ2Ny00NDU3/mcp", "https://h/api/s/***/mcp"),
        ("https://h/550e8400-e29b-41d4-a716-446655440000", "https://h/***"),
        ("https://h/aBcD-eFgH-iJkL-mNoP-qRsT-1/mcp", "https://h/***/mcp"),
        (f"https://h/{OPENAI}/mcp?x=1", "https://h/***/mcp?x=1"),
        ("https://h/a#access_token=abc", "https://h/a#access_token=***"),
        ("https://h/a?sig=abc&id=5", "https://h/a?sig=***&id=5"),
        ("https://h/a?flag&id=5", "https://h/a?flag&id=5"),
        ("https://h/a?x=a1b2c3d4e5f6a7b8", "https://h/a?x=***"),
        ("https://h/a-readable-name-of-2024/mcp", "https://h/a-readable-name-of-2024/mcp"),
        ("https://h/${TOKEN}/mcp", "https://h/${TOKEN}/mcp"),
        ("https://h/a?api%5Fke%79=abc", "https://h/a?api%5Fke%79=***"),
    ],
)
def test_secrets_in_a_url_are_masked(url: str, masked: str) -> None:
    assert shown_url(url) == masked
    assert shown_url(masked) == masked


@pytest.mark.parametrize(
    "key",
    [
        *(
            "GOCSPX-" + "a1B2c3D4e5F6",
            "1//0" + "a1B2c3D4e5F6g7H8i9J0",
            "ctx7sk-" + "a1b2-c3d4-e5f6",
        ),
        *("dckr_pat_" + "a1B2c3D4e5F6", "r8_" + "a1B2c3D4e5F6a1B2c3D4e5", "glrt-" + "a1B2c3D4e5F6"),
        *("xai-" + "a1B2c3D4e5F6a1B2c3D4", "sntrys_" + "a1B2c3D4e5F6a1B2c3D4", "PMAK-" + "0a" * 10),
        *("hvs." + "a1B2c3D4e5F6a1B2c3D4", "ATATT3" + "xFfGF0a1B2c3D4e5F6a1", "glsa_" + "a1B2" * 5),
        "AGE-SECRET-KEY-1" + "QQPQ2PAAAAAAAAAAAAAAAAAAAA",
        *("dapi" + "0a" * 16, "phx_" + "a1B2" * 8, "pscale_tkn_" + "a1B2" * 8),
        *("dp.st.dev." + "a1B2" * 10, "NRAK-" + "A1B2" * 6, "HRKU-" + "a1B2" * 9),
        "123456789:AA" + "a1B2c3D-4" * 4,
    ],
)
def test_keys_of_known_services_are_masked_wherever_they_stand(key: str) -> None:
    assert shown_text(f"it refused ({key}).") == "it refused (***)."
    assert shown_args(["run", key]) == ["run", "***"]


@pytest.mark.parametrize(
    "start",
    [
        *("sk-", "sk_live_", "rk_test_", "whsec_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
        *("github_pat_", "glpat-", "gldt-", "xoxb-", "xapp-", "AKIA", "ASIA", "AIza", "ya29."),
        *("hf_", "npm_", "pypi-", "dop_v1_", "shpat_", "shpss_", "sbp_", "gsk_", "ntn_", "figd_"),
        *("lin_api_", "secret_", "pplx-", "tvly-", "fc-", "nvapi-", "dckr_oat_", "sntryu_", "hvb."),
        *("apify_api_", "e2b_", "SG.a1b2a1b2a1b2."),
    ],
)
def test_a_key_is_masked_by_what_it_begins_with(start: str) -> None:
    end = "a1b2" * 6
    key = start + (end.upper() if start in {"AKIA", "ASIA"} else end)
    assert shown_text(f"it refused {key}") == "it refused ***"


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("x-api-key: abcdefgh", "x-api-key: ***"),
        ("X-Auth-Token: zzzzzz, x-total: abc", "X-Auth-Token: ***, x-total: abc"),
        ("failed: https://u:pw@h/x", "failed: https://u:***@h/x"),
        ("error: password: abc123", "error: password: ***"),
        ("API_KEY=abc and token='abc'", "API_KEY=*** and token='***'"),
        ("run with --token abc or --port 80", "run with --token *** or --port 80"),
        ("token: expired, the key was refused", "token: expired, the key was refused"),
        ("Authorization: Bearer abcdef", "Authorization: Bearer ***"),
        (f"key {GITHUB} refused", "key *** refused"),
        ("token=${TOKEN}", "token=${TOKEN}"),
        ("-----BEGIN RSA PRIVATE KEY-----\nabc\n", "***"),
        ("key=" + "x" * 500 + " end", "key=*** end"),
        ("Authorization: token abcdef", "Authorization: token ***"),
        ('"authorization": "Basic ab=="', '"authorization": "***"'),
        ("Authorization: Bearer ${TOKEN}", "Authorization: Bearer ${TOKEN}"),
        ("Set-Cookie: sid=abc; Path=/", "Set-Cookie: ***"),
        ("cookie: a=b; c=d", "cookie: ***"),
        ('password="a long \'one\' \\" here" end', 'password="***" end'),
        ("password='not closed", "password='*** closed"),
        ("token = abc123, token == other", "token = ***, token == other"),
        (r"sent {\"token\":\"a b\"}", r"sent {\"token\":\"***\"}"),
        ("argv: ['--token', 'abc', '--port', '1']", "argv: ['--token', '***', '--port', '1']"),
        ('["--api-key","abc"]', '["--api-key","***"]'),
        ('["--token","--verbose"]', '["--token","--verbose"]'),
        ("run --token  abc --key 'a b'", "run --token  *** --key ***"),
        ("--token ${TOKEN}", "--token ${TOKEN}"),
        ("password is required, token:", "password is required, token:"),
        ("password\uff1aabc123", "password\uff1a***"),
        ("Authorization\uff1aBearer abcdef", "Authorization\uff1aBearer ***"),
        ("cookie\uff1a a=b; c=d", "cookie\uff1a ***"),
        ("-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQ\n-----END PGP PRIVATE KEY BLOCK-----", "***"),
        ("\"secret\" => \"a b\", 'x' => 'y'", "\"secret\" => \"***\", 'x' => 'y'"),
        ('password := "a b"', 'password := "***"'),
        ("<user>me</user><password>a b</password>", "<user>me</user><password>***</password>"),
        ("<s:apiKey id='1'>abc</s:apiKey>", "<s:apiKey id='1'>***</s:apiKey>"),
        ('<add key="ApiKey" value="a b" />', '<add key="***" value="***" />'),
        ("machine h login me password horse", "machine h login me password ***"),
        ("a: 1\n  password: correcthorse # x\nb: 2", "a: 1\n  password: *** # x\nb: 2"),
        ("- api_key: batterystaple", "- api_key: ***"),
        ("token: expired\npassword: required", "token: expired\npassword: required"),
        ("curl -u me:a.horse https://h", "curl -u me:*** https://h"),
        (
            "docker run -u 1000:1000 --user node:node x",
            "docker run -u 1000:1000 --user node:node x",
        ),
        ("seed_phrase=abc recoveryPhrase='a b'", "seed_phrase=*** recoveryPhrase='***'"),
        (
            "\u5bc6\u7801\uff1aabc123\uff0c\u53e3\u4ee4=abc",
            "\u5bc6\u7801\uff1a***\uff0c\u53e3\u4ee4=***",
        ),
    ],
)
def test_secrets_in_a_text_are_masked(text: str, masked: str) -> None:
    assert shown_text(text) == masked


HOLD_SECRETS = """
    --api-key --apikey --key --secret-key --access-key --private-key --encryption-key --signing-key
    --master-key --openai-key --account-key --token --auth-token --github-token --bot-token --pat
    --password --db-password --passphrase --pass --pwd --auth --basic-auth --credentials --cookie
    --client-secret --jwt --sig --signature --webhook-secret --use-token
    GITHUB_TOKEN x-auth clientSecret pwd PGPASSWORD AWS_SECRET_ACCESS_KEY
"""
HOLD_NONE = """
    --sort-key --order-key --group-key --primary-key --foreign-key --partition-key --shard-key
    --row-key --cache-key --public-key --index-key --key-file --key-column --key-format --key-id
    --key-prefix --keyring --keyspace --private-key-path --password-file --passthrough
    --pass-through --auth-type --auth-mode --auth-method --auth-provider --auth-server --no-auth
    --require-auth --token-endpoint --token-url --token-ttl --cookie-jar --max-tokens --tokenizer
    --token-limit --secret-name --credential-provider --compass --author --monkey
    max_tokens token_file keyboard tokenizer path SORT_KEY CACHE_KEY
"""


@pytest.mark.parametrize("name", HOLD_SECRETS.split())
def test_names_of_secrets_hold_them(name: str) -> None:
    assert holds_secret(name)
    assert shown_args([f"{name}=x1"]) == [f"{name}=***"]


@pytest.mark.parametrize("name", HOLD_NONE.split())
def test_values_of_other_names_are_shown(name: str) -> None:
    assert not holds_secret(name)
    assert shown_args([f"{name}=x1", name, "x2"]) == [f"{name}=x1", name, "x2"]
    assert shown_text(f"run {name}=x1 {name} x2") == f"run {name}=x1 {name} x2"


STORED = ["--api-key", "first", "--token", "second", "--pass=third", "plain", "***"]


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["--token", "***"], ["--token", "second"]),
        (["new", "--pass=***", "--api-key", "***"], ["new", "--pass=third", "--api-key", "first"]),
        (["--api-key", "other", "--token", "***"], ["--api-key", "other", "--token", "second"]),
        (["***"], ["***"]),
    ],
)
def test_a_masked_argument_keeps_the_stored_one_wherever_it_stands(
    args: list[str], expected: list[str]
) -> None:
    assert unmasked_args(args, STORED) == expected


@pytest.mark.parametrize("args", [["--secret=***"], ["--pass=***", "--pass=***", "--key=***"]])
def test_a_masked_argument_that_was_never_stored_is_refused(args: list[str]) -> None:
    with pytest.raises(StillMasked):
        unmasked_args(args, STORED)
    with pytest.raises(DefinitionError, match=r"args\[\d\]: is masked, but no value is stored"):
        merged(LocalConfig(command=["x", *STORED]), {"args": args})


def test_a_url_that_is_changed_beside_its_mask_is_refused() -> None:
    config = RemoteConfig(url="https://u:pw@h/")
    with pytest.raises(DefinitionError, match="url: contains a masked value"):
        merged(config, {"url": "https://u:***@other/"})
    masked = merged(config, {"url": "https://u:***@h/", "args": None})
    assert masked.config == config


def test_a_number_among_arguments_is_refused_as_before() -> None:
    with pytest.raises(DefinitionError, match="args"):
        merged(LocalConfig(command=["x"]), {"args": ["--token", 5]})


def test_a_password_behind_a_user_is_masked_in_what_the_server_says() -> None:
    args = ("x", "--user", "bob:hunter22", "--user=eve:pass.word", "-u", "app:operators")
    assert secrets_of(LocalLaunch(args, {}, None, ())) == {"hunter22", "pass.word"}


def test_a_cause_shows_no_secret_of_its_launch() -> None:
    local = LocalLaunch(("x", "--token=abcdefgh"), {}, None, ())
    remote = RemoteLaunch("https://h/?key=ijklmnop", {}, None)
    assert secrets_of(local) == {"abcdefgh"}
    args = ("x", "-e", "LEVEL=production", "--header", "Authorization: Bearer opaque")
    assert secrets_of(LocalLaunch(args, {}, None, ())) == {"Bearer opaque", "opaque"}
    assert secrets_of(remote) == {"ijklmnop"}
    cause = Cause(Code.EXITED, "said abcdefgh", "try abcdefgh")
    masked = without_secrets(cause, local)
    assert (masked.message, masked.hint) == ("said ***", "try ***")
    assert without_secrets(masked, local) is masked
    assert Cause(Code.EXITED, f"{GITHUB} refused").message == "*** refused"


@given(
    st.lists(
        st.sampled_from(
            [
                "--token",
                "=",
                "a1",
                '"',
                "cookie: a=",
                "authorization: basic ",
                "://u:",
                "@",
                "/",
                MASKED,
                "${A}",
                " ",
            ]
        )
    )
)
def test_what_was_masked_stays_masked(words: list[str]) -> None:
    text = "".join(words)
    assert shown_args(shown_args(words)) == shown_args(words)
    assert shown_text(shown_text(text)) == shown_text(text)
