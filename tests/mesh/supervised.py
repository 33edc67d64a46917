"""A real supervisor with its keeper: the servers of a node are processes."""

import os
import uuid

from mcpyard.runtime.clock import SystemClock
from mcpyard.runtime.opening import WireOpener
from mcpyard.runtime.processes.keeper_client import KeeperClient
from mcpyard.runtime.processes.marks import MarkKey
from mcpyard.runtime.session_runner import RuntimeDeps
from mcpyard.runtime.signins import SignInManager, VolatileCredentials
from mcpyard.runtime.starts import Starts
from mcpyard.runtime.supervisor import Supervisor
from mcpyard.store.memory import VolatileMemory
from mcpyard.wire.eras import ANSWERABLE, ClientFace


def supervisor() -> Supervisor:
    return Supervisor(runtime_deps(opener()))


def opener() -> WireOpener:
    keeper = KeeperClient(uuid.uuid4().hex, key=MarkKey(b"of the nodes of all tests"))
    face = ClientFace("mcpyard", "test", declared=ANSWERABLE)
    sign_ins = SignInManager(VolatileCredentials())
    return WireOpener(keeper, VolatileMemory(), dict(os.environ), face, sign_ins)


def runtime_deps(opener: WireOpener) -> RuntimeDeps:
    return RuntimeDeps(opener, Starts(), VolatileMemory(), SystemClock())
