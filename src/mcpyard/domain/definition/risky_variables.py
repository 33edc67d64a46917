"""Variables of an environment that decide which code a process runs, or whom it believes.

A definition that sets one of them can run something else than its command says.
"""

from typing import Final

_NAMES: Final = frozenset(
    {
        "ALL_PROXY",
        "BASH_ENV",
        "BROWSER",
        "CLASSPATH",
        "COR_PROFILER",
        "DOTNET_STARTUP_HOOKS",
        "EDITOR",
        "ENV",
        "GCONV_PATH",
        "HOME",
        "HTTPS_PROXY",
        "HTTP_PROXY",
        "IFS",
        "JAVA_TOOL_OPTIONS",
        "JDK_JAVA_OPTIONS",
        "NODE_EXTRA_CA_CERTS",
        "NODE_OPTIONS",
        "NODE_PATH",
        "NODE_TLS_REJECT_UNAUTHORIZED",
        "PAGER",
        "PATH",
        "PERL5LIB",
        "PERL5OPT",
        "PERLLIB",
        "REQUESTS_CA_BUNDLE",
        "RUBYLIB",
        "RUBYOPT",
        "SHELL",
        "SSL_CERT_DIR",
        "SSL_CERT_FILE",
        "_JAVA_OPTIONS",
    }
)
_PREFIXES: Final = (
    "CORECLR_",
    "DOCKER_",
    "DYLD_",
    "GIT_",
    "LD_",
    "NPM_CONFIG_",
    "PIP_",
    "PYTHON",
    "UV_",
)


def is_risky(variable: str) -> bool:
    """Whether a variable may change what a process runs; npm reads its own in small letters."""
    name = variable.upper()
    return name in _NAMES or name.startswith(_PREFIXES)
