"""Modules of other packages that are known without having run.

Some import what we need none of, such as the command line of a package in its `__init__`, which
would take a good part of a start. Such a module runs when somebody asks for what only it has.
"""

import sys
from collections.abc import Callable, Mapping
from importlib.util import find_spec, module_from_spec
from types import MappingProxyType

_NOTHING: Mapping[str, Callable[[], object]] = MappingProxyType({})


def spare_module(name: str, members: Mapping[str, Callable[[], object]] = _NOTHING) -> None:
    """Let a module be imported, and those within it one by one, without running it.

    Args:
        name: Its full name.
        members: What it is asked for nevertheless, each with what finds it.
    """
    spec = None if name in sys.modules else find_spec(name)
    if spec is None or spec.loader is None:
        return
    loader, module = spec.loader, module_from_spec(spec)

    def find(name: str) -> object:
        """Find a member, where need be by running the module after all."""
        if name in members:
            return members[name]()
        if name == "__path__":
            # By this the import system tells a module from a package, which has it from its spec.
            raise AttributeError(name)
        del module.__getattr__
        loader.exec_module(module)
        return getattr(module, name)

    module.__getattr__ = find
    sys.modules[spec.name] = module
