"""Loads uvicorn without its command line, which would take a tenth of a start.

Its `__init__` imports that command line and with it click. Its other modules need none of it, so
the package is known without having run. It runs when somebody asks for what only it has.
"""

import sys
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from typing import Final

_ELSEWHERE: Final = {"Config": "uvicorn.config", "Server": "uvicorn.server"}
"""What modules of uvicorn ask the package for, and where it is defined."""


def know_uvicorn() -> None:
    """Let the modules of uvicorn be imported one by one."""
    spec = None if "uvicorn" in sys.modules else find_spec("uvicorn")
    if spec is None or spec.loader is None:
        return
    loader, package = spec.loader, module_from_spec(spec)

    def find(name: str) -> object:
        """Find an attribute, where need be by running the package after all."""
        if name in _ELSEWHERE:
            return getattr(import_module(_ELSEWHERE[name]), name)
        del package.__getattr__
        loader.exec_module(package)
        return getattr(package, name)

    package.__getattr__ = find
    sys.modules["uvicorn"] = package
