"""What an entry can say of a server, in neutral words."""

from enum import StrEnum
from typing import Final


class Field(StrEnum):
    """What an entry can say; the values are the names of the attributes of `Entry`."""

    COMMAND = "command"
    ARGS = "args"
    ENV = "env"
    URL = "url"
    ENABLED = "enabled"
    TYPE = "type"
    HEADERS = "headers"
    CWD = "cwd"
    CALL_TIMEOUT = "call_timeout"
    START_TIMEOUT = "start_timeout"
    ONLY_TOOLS = "only_tools"
    EXCEPT_TOOLS = "except_tools"
    ENV_VARS = "env_vars"
    ENV_HEADERS = "env_headers"
    BEARER = "bearer"
    OAUTH_CLIENT_ID = "oauth_client_id"
    OAUTH_CLIENT_SECRET = "oauth_client_secret"  # noqa: S105  the name of a field
    OAUTH_CLIENT_METADATA = "oauth_client_metadata"
    OAUTH_SCOPES = "oauth_scopes"
    OAUTH_CALLBACK_PORT = "oauth_callback_port"
    OAUTH_REDIRECT_URI = "oauth_redirect_uri"
    OAUTH_AUTHORIZATION_URL = "oauth_authorization_url"
    OAUTH_TOKEN_URL = "oauth_token_url"  # noqa: S105  the name of a field
    OAUTH_AUDIENCES = "oauth_audiences"


LOCAL_FIELDS: Final = frozenset({Field.ARGS, Field.ENV, Field.CWD, Field.ENV_VARS})
OAUTH_FIELDS: Final = frozenset(name for name in Field if name.startswith("oauth_"))
OAUTH_LISTS: Final = (Field.OAUTH_SCOPES, Field.OAUTH_AUDIENCES)
OAUTH_TEXTS: Final = (
    Field.OAUTH_CLIENT_ID,
    Field.OAUTH_CLIENT_SECRET,
    Field.OAUTH_CLIENT_METADATA,
    Field.OAUTH_REDIRECT_URI,
    Field.OAUTH_AUTHORIZATION_URL,
    Field.OAUTH_TOKEN_URL,
)
REMOTE_FIELDS: Final = OAUTH_FIELDS | {Field.HEADERS, Field.ENV_HEADERS, Field.BEARER}
TIMES: Final = (Field.CALL_TIMEOUT, Field.START_TIMEOUT)
