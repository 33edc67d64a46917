"""The options of `mcpyard up`."""

import os
from pathlib import Path

from msgspec import Struct

from mcpyard.cli.cli_errors import usage
from mcpyard.cli.daemon.binding import BindOptions, make_tls
from mcpyard.cli.daemon.node_settings import read_node
from mcpyard.cli.durations import read_duration
from mcpyard.cli.home_files import home_folder
from mcpyard.cli.quick_up import DEFAULT_HOST, DEFAULT_PORT, UpArguments
from mcpyard.cluster.node_options import NodeOptions
from mcpyard.domain.callers import Limits, read_limits
from mcpyard.domain.errors import InputError


class UpOptions(Struct, frozen=True):
    """The options of `up`; `idle_exit` is in seconds, None for never.

    `current` is the current folder, if it has a project file and `project` names no other. A
    `substitute` was started by a bridge, and ends when another `up` comes. One with a `parent_pipe`
    ends when its standard input does, which its parent holds.
    """

    home: Path
    bind: BindOptions
    project: Path | None = None
    strict: bool = False
    trust_folder: bool = False
    as_json: bool = False
    idle_exit: float | None = None
    log_level: str = "info"
    open_page: bool = False
    limits: Limits = Limits()
    current: Path | None = None
    substitute: bool = False
    sync: bool = False
    node: NodeOptions | None = None
    parent_pipe: bool = False

    def arguments(self, port: int) -> list[str]:
        """The arguments of a command with the same options; those for its output are left out."""
        arguments = [*self.bind.arguments(port), "--log-level", self.log_level]
        arguments += ["--project", str(self.project.absolute())] if self.project else []
        arguments += ["--strict"] if self.strict else []
        arguments += ["--sync"] if self.sync else []
        arguments += self.node.arguments() if self.node else []
        return [*arguments, "--trust-folder"] if self.trust_folder else arguments


def configured_limits() -> Limits:
    """The limits that the environment sets."""
    try:
        return read_limits(os.environ.get("MCPYARD_LIMITS", ""))
    except InputError as error:
        raise usage(f"MCPYARD_LIMITS: {error.message}") from None


def read_options(arguments: UpArguments) -> UpOptions:
    """The options that the arguments of the command say."""
    tls = make_tls(arguments.get("tls_cert"), arguments.get("tls_key"))
    bind = BindOptions(
        arguments.get("host", DEFAULT_HOST),
        arguments.get("port", DEFAULT_PORT),
        tls,
        arguments.get("insecure", False),
        tuple(arguments.get("allow_host") or ()),
    )
    idle = arguments.get("idle_exit")
    return UpOptions(
        home_folder(arguments.get("home")),
        bind,
        arguments.get("project"),
        strict=arguments.get("strict", False),
        trust_folder=arguments.get("trust_folder", False),
        as_json=arguments.get("as_json", False),
        idle_exit=None if idle is None else read_duration("--idle-exit", idle),
        log_level=arguments.get("log_level", "info"),
        open_page=arguments.get("open_page", False),
        substitute=arguments.get("substitute", False),
        sync=arguments.get("sync", False),
        node=read_node(arguments),
        parent_pipe=arguments.get("parent_pipe", False),
    )
