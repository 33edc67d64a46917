"""How much of a model's context a text takes, roughly: no tokenizer, no model in mind."""

from typing import Final

_ASCII_PER_TOKEN: Final = 4
"""English and JSON, in the tokenizers of today."""


def estimate_tokens(text: str) -> int:
    """An estimate: four plain characters a token, one for any other character."""
    plain = len(text.encode("ascii", "ignore"))
    return -(-plain // _ASCII_PER_TOKEN) + len(text) - plain
