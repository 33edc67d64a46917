import pytest

from mcpyard.domain.definition.risky_variables import is_risky


@pytest.mark.parametrize(
    "name",
    ["PATH", "NODE_OPTIONS", "LD_PRELOAD", "PYTHONPATH", "npm_config_registry", "https_proxy"],
)
def test_a_variable_that_may_change_which_code_runs_is_known(name: str) -> None:
    assert is_risky(name)


@pytest.mark.parametrize("name", ["TOKEN", "MODE", "MY_PATH", "XLD_PRELOAD"])
def test_any_other_variable_is_not_marked(name: str) -> None:
    assert not is_risky(name)
