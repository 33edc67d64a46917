"""The command that the conformance suite starts for a client: tells the driver, and waits."""

import json
import os
import socket
import sys

context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
scenario = {
    "name": os.environ["MCP_CONFORMANCE_SCENARIO"],
    "url": sys.argv[-1],
    "version": os.environ["MCP_CONFORMANCE_PROTOCOL_VERSION"],
    "parameters": context,
}
with socket.socket(socket.AF_UNIX) as driver:
    driver.connect(sys.argv[1])
    driver.sendall(json.dumps(scenario).encode() + b"\n")
    with driver.makefile() as answers:
        failed = json.loads(answers.readline())
sys.exit(failed)
