"""The yard of a daemon: its definitions, what it may run, and how it is known.

It is a module of its own because loading it takes half of a start; `up` does so while the storage
opens.
"""

import os
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from mcpyard.app import HostEnvironment, WiredYard, wire_yard
from mcpyard.cli.daemon.up_options import UpOptions
from mcpyard.domain.definition.this_yard import SelfIdentity
from mcpyard.early_start import EarlyStart
from mcpyard.sources.code import CodeSource
from mcpyard.sources.environment import EnvironmentSource
from mcpyard.sources.project_file import ProjectFile
from mcpyard.yard.trust import ApprovalPolicy

YardOpener = Callable[[EarlyStart, UpOptions, str], AbstractAsyncContextManager[WiredYard]]


def open_yard(
    early: EarlyStart, options: UpOptions, url: str
) -> AbstractAsyncContextManager[WiredYard]:
    """Run the yard of a daemon.

    Args:
        early: What was begun before this module was loaded.
        options: What to run, and what is allowed.
        url: Where the daemon listens.
    """
    folder, own = options.project or options.current, dict(os.environ)
    projects = [ProjectFile(folder, strict=options.strict)] if folder else []
    host = HostEnvironment(own, _approval(options), _identity(options, url))
    sources = [*projects, EnvironmentSource(own)]
    return wire_yard(early, sources, host, CodeSource(None), options.node)


def _approval(options: UpOptions) -> ApprovalPolicy:
    if options.trust_folder:
        return ApprovalPolicy()
    named = frozenset({options.project} if options.project else ())
    return ApprovalPolicy(named, frozenset({options.current} if options.current else ()))


def _identity(options: UpOptions, url: str) -> SelfIdentity:
    homes = {str(options.home.absolute()), str(options.home.resolve())}
    scheme, port = url.split(":", 1)[0], url.rsplit(":", 1)[1]
    named = {
        f"{scheme}://{f'[{each}]' if ':' in each else each}:{port}" for each in options.bind.hosts
    }
    return SelfIdentity(frozenset(homes), frozenset({url, *named}))
