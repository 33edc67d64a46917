"""A daemon that another program runs as a process of its own: a node on a machine of Ray.

The program holds the other end of the daemon's standard input. However the program ends, the daemon
sees the end of that, and ends with its servers: a killed program orphans nothing.
"""

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from mcpyard.mesh.certificates import NodeFiles
from mcpyard.store.atomic_files import write_private
from mcpyard.store.home import Home, default_home

_PAUSE: Final = 1.0
_LOOK: Final = 0.1
_END_SECONDS: Final = 25.0
_CERTIFICATES: Final = "node-certs"


class HostedNode(Struct, frozen=True):
    """What a machine needs to run a node.

    Attributes:
        name: The name of the node.
        arguments: The options of `mcpyard up` besides the folders of this machine.
        variables: The secrets of the cluster, for the daemon's environment.
        files: The content of the certificate, of its key and of the authority's certificate.
    """

    name: str
    arguments: tuple[str, ...]
    variables: Mapping[str, str]
    files: tuple[bytes, bytes, bytes]

    @property
    def home(self) -> Path:
        """The folder of its state: beside that of the user's own mcpyard."""
        home = default_home()
        return home.with_name(f"{home.name}-{self.name}")


class NodeHost:
    """Runs the daemon of a node, and starts it again whenever it ends."""

    def __init__(self, node: HostedNode) -> None:
        self._node = node
        self._ending = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        certificates = node.home / _CERTIFICATES
        certificates.mkdir(mode=0o700, parents=True, exist_ok=True)
        for path, content in zip(NodeFiles.of(certificates, node.name), node.files, strict=True):
            write_private(path, content)
        words = ["up", "--json", "--parent-pipe", "--home", str(node.home)]
        words += ["--node-certs", str(certificates), *node.arguments]
        # -P: a file in the folder that it starts in must not pass for one of our modules.
        self._command = [sys.executable, "-P", "-m", "mcpyard", *words]
        self._running = threading.Thread(target=self._run, name="daemon", daemon=True)
        self._running.start()

    def wait_ready(self, seconds: float) -> str:
        """The address of the daemon once it answers; empty if that takes too long."""
        until = time.monotonic() + seconds
        while time.monotonic() < until and not self._ending.wait(_LOOK):
            running, process = Home(self._node.home).running(), self._process
            if running and running.url and process and running.pid == process.pid:
                return running.url
        return ""

    def stop(self) -> None:
        """End the daemon with its servers, for good."""
        self._ending.set()
        if process := self._process:
            process.terminate()
        self._running.join(_END_SECONDS)
        # One that began at this very moment, or does not end.
        if (process := self._process) and process.poll() is None:
            process.kill()

    def _run(self) -> None:
        while not self._ending.is_set():
            # A daemon before this one may still be ending, and then this one ends at once.
            self._process = subprocess.Popen(  # noqa: S603  our own command
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=self._node.home,
                env=os.environ | dict(self._node.variables),
                start_new_session=True,
            )
            self._process.wait()
            with contextlib.suppress(OSError):
                if self._process.stdin:
                    self._process.stdin.close()
            self._ending.wait(_PAUSE)
