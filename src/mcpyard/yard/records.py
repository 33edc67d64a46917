"""A server as the faces show it: one record, made from what should be and what is.

Secrets do not leave the yard: a literal value of `env` or `headers`, and the secret of `oauth`, is
masked; a reference to a variable is shown as it was written.
"""

import hashlib
from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple, cast

from mcpyard.catalog.routes import Route
from mcpyard.domain.cause import Cause
from mcpyard.domain.definition.merge import oauth_of, shown_url
from mcpyard.domain.definition.secrets import names_secret
from mcpyard.domain.desired import DesiredServer, Waiting
from mcpyard.domain.errors import Problem
from mcpyard.domain.lifecycle import Phase
from mcpyard.domain.model import Config, LocalConfig, RemoteConfig
from mcpyard.domain.observed import Figures, Observed
from mcpyard.domain.status import public_words
from mcpyard.domain.stored import CallRecord
from mcpyard.yard.masking import masked, shown_value

Record = dict[str, object]


class Picture(NamedTuple):
    """A server as it should be, and as it is: all that its record depends on."""

    server: DesiredServer
    observed: Observed


def record(
    server: DesiredServer, observed: Observed, routes: Iterable[Route], *, tools: bool = True
) -> Record:
    """The whole record of a server."""
    listed = [*routes]
    shown = _definition(server) | _condition(server, observed) | {"toolCount": len(listed)}
    if tools:
        shown["tools"] = [_listed(route) for route in listed]
    return shown


def definition_digest(server: DesiredServer) -> str:
    """What a caller names to say which state of a definition it means to change."""
    text = f"{server.name}\0{server.config.model_dump_json()}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def brief(server: DesiredServer, observed: Observed) -> Record:
    """What a status event tells: how a server is, without what it is."""
    shown = _condition(server, observed)
    keys = "status", "state", "phase", "error", "attempt", "maxAttempts", "nextRetryAt", "pid"
    count = len(observed.tools.definitions)
    told: Record = {"id": str(server.id), "name": server.name, "toolCount": count}
    return told | {key: shown[key] for key in keys}


def tool_record(route: Route, *, stale: bool) -> Record:
    """One tool with everything that is known of it."""
    return {
        "name": route.tool.name,
        "title": route.tool.title,
        "description": route.description,
        "inputSchema": route.tool.input_schema,
        "outputSchema": route.tool.output_schema,
        "annotations": route.tool.annotations,
        "enabled": route.policy.enabled,
        "exposedName": route.exposed,
        "server": route.server_name,
        "stale": stale,
    }


def revealed(server: DesiredServer) -> Record:
    """The literal values of a server's definition that records mask, for its owner's eyes."""
    config = server.config
    if isinstance(config, LocalConfig):
        return {"env": dict(config.environment)}
    oauth = oauth_of(config) or {}
    return {"url": config.url, "headers": dict(config.headers), "oauth": oauth}


def trial_record(observed: Observed, warnings: Iterable[Problem]) -> Record:
    """What a trial found."""
    session = observed.session
    return {
        "ok": True,
        "protocolVersion": session.protocol_version if session else None,
        "serverInfo": session.server_info if session else None,
        "tools": [
            {"name": tool.name, "description": tool.description}
            for tool in observed.tools.definitions
        ],
        "warnings": [str(each) for each in warnings],
    }


def figures_record(figures: Figures | None) -> Record | None:
    """What a server's processes use."""
    if figures is None:
        return None
    return {
        "processes": figures.processes,
        "rss": figures.rss,
        "cpuSeconds": round(figures.cpu_seconds, 2),
    }


def call_record(call: CallRecord) -> Record:
    """One call, as the journal has it."""
    return {
        "at": call.at.isoformat(timespec="milliseconds"),
        "who": call.who,
        "server": call.server_name,
        "tool": call.tool,
        "ms": round(call.ms, 3),
        "outcome": call.outcome,
    }


def noting(shown: Record, odd: Iterable[Problem]) -> Record:
    """A record with further warnings."""
    known = cast("list[str]", shown["warnings"])
    return shown | {"warnings": [*known, *(str(each) for each in odd if str(each) not in known)]}


def waiting_kind(waiting: Waiting) -> str:
    """Why an entry waits: `added`, `changed`, or `replaces` a server of another scope."""
    if waiting.approved:
        return "changed"
    return "replaces" if waiting.shadows else "added"


def waiting_kinds(servers: Iterable[DesiredServer]) -> dict[str, str]:
    """Of which servers an entry waits for approval, and why, by their names."""
    return {each.name: waiting_kind(each.waiting) for each in servers if each.waiting}


def cause_record(cause: Cause | None) -> Record | None:
    """Why a server is not connected."""
    if cause is None:
        return None
    return {
        "code": str(cause.code),
        "message": cause.message,
        "hint": cause.hint,
        "stderr": [*cause.stderr],
    }


def _listed(route: Route) -> Record:
    return {"name": route.tool.name, "description": route.description}


def _definition(server: DesiredServer) -> Record:
    config = server.config
    shown: Record = {
        "id": str(server.id),
        "name": server.name,
        "title": config.title,
        "description": config.description,
        "scope": str(server.owner.scope),
        "type": config.type,
        "transport": str(config.transport) if config.transport else None,
        "thisYard": server.this_yard,
        **_policy(config),
    }
    if isinstance(config, LocalConfig):
        return shown | {
            "command": config.program,
            "args": config.args,
            "env": masked(config.environment),
            "cwd": config.cwd,
        }
    return shown | {
        "url": shown_url(config.url),
        "headers": masked(config.headers),
        "oauth": _oauth(config),
    }


def _policy(config: Config) -> Record:
    """How a server is treated, in the words of a change; `wanted` is told with its condition.

    What a record calls `concurrency` and `tools` is what there is, so what is asked for has other
    names.
    """
    return {
        "enabled": config.enabled,
        "timeout": config.timeout,
        "startTimeout": config.start_timeout,
        "progressExtends": config.progress_extends,
        "fallback": config.fallback,
        "inherit": config.inherit,
        "isolation": config.isolation,
        "wantedConcurrency": config.concurrency,
        "maxMessage": config.max_message,
        "health": config.health.model_dump(mode="json"),
        "restart": config.restart.model_dump(mode="json"),
        "toolPolicies": {
            name: policy.model_dump(mode="json", by_alias=True, exclude_defaults=True)
            for name, policy in config.tools.items()
        },
    }


def _oauth(config: RemoteConfig) -> Record:
    return {
        name: shown_value(value) if names_secret(name) else value
        for name, value in (oauth_of(config) or {}).items()
    }


def _condition(server: DesiredServer, observed: Observed) -> Record:
    state, words = observed.state, public_words(observed.state)
    waiting = state.phase in {Phase.BACKOFF, Phase.CONNECTING} and state.n > 0
    session = observed.session
    return {
        "status": str(words.status),
        "state": str(words.state),
        "phase": str(state.phase),
        "error": cause_record(state.cause),
        "attempt": state.n if waiting or state.phase is Phase.FAILED else 0,
        "maxAttempts": server.config.restart.attempts,
        "nextRetryAt": _time(observed.next_retry_at),
        "pid": observed.pid,
        "since": _time(observed.since),
        "wanted": str(server.wanted),
        "protocolVersion": session.protocol_version if session else None,
        "serverInfo": session.server_info if session else None,
        "concurrency": observed.concurrency,
        "toolsStale": observed.tools.stale,
        "needsApproval": waiting_kind(server.waiting) if server.waiting else None,
        "warnings": [str(each) for each in (*server.warnings, *observed.tools.problems)],
        "digest": definition_digest(server),
    }


def _time(moment: datetime | None) -> str | None:
    return moment.isoformat(timespec="milliseconds") if moment else None
