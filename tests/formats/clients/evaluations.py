"""A machine with some files, for the tests that judge what its clients make of them."""

import json
from collections.abc import Mapping

from mcpyard.formats.effective import Evaluation, Text, judge
from mcpyard.formats.locations import ClientFolders
from mcpyard.formats.registry import client_of

HOME, PROJECT = "/home/ann", "/home/ann/code/it"


def host(project: str = PROJECT, **environment: str) -> ClientFolders:
    return ClientFolders(environment, HOME, project)


def texts(
    files: Mapping[str, object], mode: int = 0o600, *, tracked: bool = False
) -> dict[str, Text]:
    """Files by their paths, `~` for the home and `.` for the project; what is no text is JSON."""
    by_path: dict[str, Text] = {}
    for short, content in files.items():
        path = short.replace("~", HOME, 1) if short[0] == "~" else short.replace(".", PROJECT, 1)
        text = content if isinstance(content, str) else json.dumps(content)
        by_path[path] = Text(path, text, mode=mode, tracked=tracked)
    return by_path


def judged(client: str, files: Mapping[str, object], host_environment: ClientFolders) -> Evaluation:
    return judge(client_of(client), host_environment, texts(files))


def states(
    client: str, files: Mapping[str, object], host_environment: ClientFolders | None = None
) -> dict[str, str]:
    """What becomes of each server, by scope and name."""
    evaluation = judged(client, files, host_environment or host())
    return {f"{each.ref.scope.name} {each.listed.name}": each.state for each in evaluation.statuses}
