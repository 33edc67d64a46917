import pytest

from mcpyard.domain import limits


@pytest.mark.parametrize(
    ("command", "seconds"),
    [
        (("python", "-m", "x"), limits.START),
        (("npx", "-y", "x"), limits.START_WITH_DOWNLOAD),
        (("/usr/bin/uvx", "x"), limits.START_WITH_DOWNLOAD),
        (("C:\\node\\NPX.CMD", "x"), limits.START_WITH_DOWNLOAD),
        ((), limits.START),
    ],
)
def test_a_runner_that_may_download_first_gets_more_time(
    command: tuple[str, ...], seconds: float
) -> None:
    assert limits.start_limit(command, None) == seconds


def test_what_the_user_says_wins() -> None:
    assert limits.start_limit(("npx",), 1500) == 1.5
