"""Servers whose answers a test writes, and what they were sent."""

import json
import sys
from pathlib import Path
from typing import Any

from tests.gateway.talking import Message, Talk

_SERVER = Path(__file__).with_name("scripted_server.py")


def scripted(answers: dict[str, Any], era: str = "legacy", **more: object) -> dict[str, Any]:
    """The definition of a server that answers so (see `scripted_server`)."""
    args = ["-I", "-S", str(_SERVER), era, json.dumps(answers)]
    return {"command": sys.executable, "args": args, "wanted": "running", **more}


def sent(talk: Talk, server: str, method: str) -> list[Message]:
    """The parameters of what a server was sent of a method, as far as it wrote them down."""
    messages = [json.loads(line.text) for line in talk.served.yard.log(server)]
    return [each.get("params", {}) for each in messages if each.get("method") == method]
