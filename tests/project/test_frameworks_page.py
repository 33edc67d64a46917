"""The page of other frameworks: what `scripts/prove frameworks` reads from it."""

import ast
import re

from bench.frameworks import PAGE, frameworks


def test_every_framework_has_a_program_and_the_table_says_whether_it_is_run() -> None:
    text = PAGE.read_text()
    sections = list(frameworks(text))
    table = re.findall(r"^\| \[([^\]]+)\]\(#[a-z0-9-]+\) \| (run|not run) \|$", text, re.MULTILINE)
    assert table == [(each.name, "run" if each.runs else "not run") for each in sections]
    assert (len(sections), sum(each.runs for each in sections)) >= (12, 6)
    assert [each.name for each in sections] == re.findall(r"^## (.+)$", text, re.MULTILINE)


def test_every_program_takes_the_address_and_the_token_from_the_environment() -> None:
    for each in frameworks(PAGE.read_text()):
        assert "MCPYARD_URL" in each.program, each.name
        assert "MCPYARD_CALL_TOKEN" in each.program, each.name
        assert "mcp_everything_echo" in each.program, each.name
        assert each.install[:2] in (["pip", "install"], ["npm", "install"]), each.name
        if each.language == "python":
            ast.parse(each.program)
