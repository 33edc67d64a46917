"""The command of a server itself, as documentation prints it: `npx -y pkg`, `docker run ... image`.

All words belong to the command, and the variables that are set before it to the server. Of `docker
run`, the image gives the server its name; a variable that `-e NAME` passes on is read from
mcpyard's environment.
"""

import re
from typing import Final

from mcpyard.formats.pasting.command_options import Options, reference, refuse

CONTAINERS: Final = frozenset({"docker", "podman", "nerdctl"})
LAUNCHERS: Final = CONTAINERS | {
    *("npx", "bunx", "pnpx", "uvx", "uv", "pipx", "pnpm", "yarn", "npm"),
    *("node", "bun", "deno", "python", "python3", "go", "dotnet", "java"),
}
"""Programs that a server is started with."""

_OWN_PROGRAM: Final = re.compile(r"(?:[\w.]+[-_])?mcp[-_][\w.-]+|[\w.-]+[-_]mcp")
"""The name of a server that was installed as a program."""

_INSTALLERS: Final = frozenset(
    {"@smithery/cli", "@modelcontextprotocol/inspector", "add-mcp", "install-mcp", "mcp-get"}
)
"""Packages that write to the files of other programs, or look at servers, and are none."""

_VERBS: Final = {
    "uv": ("run", "tool"),
    "pipx": ("run",),
    "pnpm": ("dlx", "exec"),
    "yarn": ("dlx", "exec"),
    "npm": ("exec", "x", "start", "run"),
    "go": ("run",),
    "dotnet": ("run", "tool"),
    "docker": ("run", "mcp"),
    "podman": ("run",),
    "nerdctl": ("run",),
}
"""What must be among the words of a program, so that it starts a server."""

_FLAGS: Final = frozenset(
    {
        *("-i", "--interactive", "-t", "--tty", "-it", "-ti", "-d", "--detach", "--rm"),
        *("--init", "--privileged", "--read-only", "-P", "--publish-all", "--no-healthcheck"),
        *("-q", "--quiet", "--sig-proxy"),
    }
)
"""The options of `docker run` that have no value; all others have one."""

_VARIABLES: Final = frozenset({"-e", "--env"})


def starts_servers(command: str) -> bool:
    """Whether a command is a program that starts servers, or seems to be one itself."""
    name = _name_of(command)
    return name in LAUNCHERS or _OWN_PROGRAM.fullmatch(name) is not None


def bare_server(
    words: list[str], variables: dict[str, str], options: Options
) -> tuple[str, object]:
    """The server that a command starts, with the variables that are set before it."""
    program, plain = _name_of(words[0]), [each for each in words[1:] if not each.startswith("-")]
    verbs = _VERBS.get(program, ())
    # Before `uv run` stand options with values, such as the folder of the server.
    leading = plain if program == "uv" else plain[:1]
    if program not in LAUNCHERS:
        entry: dict[str, object] = {"type": "stdio", "command": words[0], "args": words[1:]}
        return "", entry | ({"env": variables} if variables else {})
    _refuse_installers(program, plain)
    if not plain or (verbs and not any(verb in leading for verb in verbs)):
        expected = " or ".join(f"{program} {verb}" for verb in verbs) or f"{program} with a package"
        refuse(f'"{program}" starts no server this way; expected {expected}')
    env, name = dict(variables), ""
    if program in CONTAINERS and words[1] == "run":
        name, passed = _container(words[2:])
        for each in passed:
            env.setdefault(each, reference(each))
            options.warn(each, f"is read from mcpyard's environment, as ${{{each}}}")
    entry = {"type": "stdio", "command": words[0], "args": words[1:]}
    return name, entry | ({"env": env} if env else {})


def _refuse_installers(program: str, plain: list[str]) -> None:
    """Take no package for a server that sets up servers or looks at them."""
    for word in plain[:2]:
        package = word[: word.rfind("@")] if word.rfind("@") > 0 else word
        # What else this one can do is to run a server.
        if package in _INSTALLERS and "run" not in plain:
            refuse(f'"{program} {package}" is not a command that adds a server')


def _container(words: list[str]) -> tuple[str, list[str]]:
    """The name of an image without its version, and the variables that are passed on to it."""
    passed: dict[str, None] = {}
    rest = iter(words)
    for word in rest:
        if not word.startswith("-"):
            return _name_of(word).split("@", 1)[0].split(":", 1)[0], [*passed]
        if word in _FLAGS:
            continue
        option, value = _divided(word)
        value = next(rest, "") if value is None else value
        if option in _VARIABLES and reference(value):
            passed[value] = None
    return refuse("has no image to run")


def _divided(word: str) -> tuple[str, str | None]:
    """An option and its value; None where that is the next word."""
    if word.startswith("--"):
        option, mark, value = word.partition("=")
        return option, value if mark else None
    return word[:2], word[2:] or None


def _name_of(path: str) -> str:
    return path.rsplit("/", 1)[-1]
