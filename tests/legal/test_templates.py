from mcpyard.legal.templates import Unfit, fields, fill, unfit

LETTER = "Dear {{name|who it is for}}, {{ name }}: pay {{amount}} by {{date|last day}}."


def test_the_fields_of_a_template_are_told_once_each_with_what_belongs_there() -> None:
    assert fields(LETTER) == {"name": "who it is for", "amount": "", "date": "last day"}


def test_missing_and_unknown_fields_are_both_named() -> None:
    values = {"name": "Li", "date": " ", "sum": 3}
    assert unfit(LETTER, values) == Unfit(missing=("amount", "date"), unknown=("sum",))


def test_a_filled_template_has_every_value_in_its_place() -> None:
    values = {"name": "Li", "amount": 3.5, "date": "May"}
    assert unfit(LETTER, values) is None
    assert fill(LETTER, values) == "Dear Li, Li: pay 3.5 by May."


def test_braces_and_backslashes_in_a_value_stay_as_they_are() -> None:
    values = {"name": "{{amount}}", "amount": r"\1", "date": "x"}
    assert fill(LETTER, values) == r"Dear {{amount}}, {{amount}}: pay \1 by x."
