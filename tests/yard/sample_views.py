"""Views for tests that care about a few of their members only."""

from dataclasses import replace
from uuid import UUID

import msgspec

from mcpyard.domain.definition.launch import LocalLaunch
from mcpyard.domain.desired import DesiredServer, Owner
from mcpyard.domain.lifecycle import Phase, State
from mcpyard.domain.model import Config, LocalConfig, Scope, Wanted
from mcpyard.domain.observed import Observed
from mcpyard.yard.views.servers import ServerView, server_view

ID = UUID(int=7)
SERVER = DesiredServer(
    id=ID,
    name="fs",
    owner=Owner(Scope.USER),
    config=LocalConfig(command=["npx", "-y"], environment={"T": "literal-secret-value"}),
    wanted=Wanted.RUNNING,
    launch=LocalLaunch(("npx", "-y"), {}, None, ()),
    launch_digest="d",
    policy_digest="p",
)


def sample_server(config: Config = SERVER.config, **members: object) -> ServerView:
    """A connected server with a definition, and with some members that differ from it."""
    server = replace(SERVER, config=config)
    view = server_view(server, Observed(ID, State(Phase.CONNECTED)), ())
    return msgspec.structs.replace(view, **members)
