from mcpyard.yard.masking import masked


def test_references_are_shown_and_literals_are_masked() -> None:
    env = masked(
        {
            "A": "${A}",
            "B": "Bearer ${TOKEN}",
            "C": "sk-1234567890abcdef",
            "D": "short",
            "E": "a-long-secret-prefix-${X}",
            "F": "$NONE_OF_OURS",
            "G": "${A",
        }
    )
    assert env == {
        "A": "${A}",
        "B": "Bearer ${TOKEN}",
        "C": {"masked": True, "hint": "...cdef"},
        "D": {"masked": True, "hint": ""},
        "E": {"masked": True, "hint": "...${X}"},
        "F": {"masked": True, "hint": ""},
        "G": {"masked": True, "hint": ""},
    }
