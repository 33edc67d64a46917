"""What `scripts/prove regress` makes of its measurements; it measures nothing here."""

import pytest

from bench.measuring import Figures
from bench.regress import Pair, Spread, report, turns


def pairs(*ratios: float) -> list[Pair]:
    """Measurements of which the new side has so many times the rate of the old one."""
    return [
        Pair(base=100.0 * (1 + n), head=100.0 * (1 + n) * each) for n, each in enumerate(ratios)
    ]


def test_the_ratio_is_that_of_the_two_sides_of_one_round() -> None:
    assert [each.ratio for each in pairs(0.5, 2.0)] == [0.5, 2.0]


def test_a_spread_has_the_median_the_quartiles_and_the_ends() -> None:
    assert Spread.of([4.0, 1.0, 3.0, 2.0, 5.0]) == Spread(3.0, 2.0, 4.0, 1.0, 5.0)
    assert Spread.of([1.0, 2.0]).median == 1.5
    assert Spread.of([2.0]) == Spread(2.0, 2.0, 2.0, 2.0, 2.0)


def test_each_round_is_begun_by_the_other_side() -> None:
    assert [*turns(4)] == [
        ("base", "head"),
        ("head", "base"),
        ("base", "head"),
        ("head", "base"),
    ]


@pytest.mark.parametrize(
    ("ratios", "limit", "code"),
    [
        ((1.0, 0.98, 0.97), 0.97, 0),
        ((0.97, 0.97, 0.5), 0.97, 0),
        ((0.96, 0.96, 1.5), 0.97, 1),
        ((0.96, 0.96, 1.5), 0.9, 0),
    ],
)
def test_the_median_alone_decides_how_it_ends(
    ratios: tuple[float, ...], limit: float, code: int
) -> None:
    figures = Figures()
    report({"one": pairs(1.0), "two": pairs(*ratios)}, limit, figures)
    with pytest.raises(SystemExit) as ended:
        figures.leave()
    assert ended.value.code == code


def test_every_figure_is_printed_with_its_spread(capsys: pytest.CaptureFixture[str]) -> None:
    report({"calls": pairs(0.9, 1.0, 1.1)}, 0.97, Figures())
    printed = capsys.readouterr().out
    assert "1x  (at least 0.97x)" in printed
    assert "0.900 to 1.100, quartiles 0.950 to 1.050" in printed
    assert "200/s and 200/s" in printed
