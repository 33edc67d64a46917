from typing import Any

import orjson
import pytest

from mcpyard.yard.calls.outcome import Outcome
from mcpyard.yard.toolbox.rendering import EMPTY, Media, as_text, pieces


def came(*content: object, **more: object) -> Outcome:
    return Outcome(orjson.dumps({"content": [*content], **more}), "fs", "show", 1.0)


def text_part(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


@pytest.mark.parametrize(
    ("outcome", "text"),
    [
        (came(text_part("a"), text_part("b")), "a\nb"),
        (came(), EMPTY),
        (came(text_part(""), text_part("b")), "b"),
        (came(structuredContent={"a": 1}), '{"a":1}'),
        (came(text_part("other"), structuredContent={"a": 1}), 'other\n{"a":1}'),
        (came(text_part('{ "a": 1 }'), structuredContent={"a": 1}), '{ "a": 1 }'),
        (came(text_part("hello"), structuredContent={"result": "hello"}), "hello"),
        (came(text_part("3"), structuredContent={"result": 3}), "3"),
        (came(text_part("1"), text_part("2"), structuredContent={"result": [1, 2]}), "1\n2"),
        (came(text_part("1"), structuredContent={"result": 1, "b": 2}), '1\n{"result":1,"b":2}'),
        (came(structuredContent=[1]), "[1]"),
    ],
)
def test_structured_content_is_told_unless_the_words_say_it(outcome: Outcome, text: str) -> None:
    assert as_text(outcome) == text


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ({"uri": "u:1", "name": "n"}, "[link n] u:1"),
        ({"uri": "u:1"}, "[link] u:1"),
        (
            {"uri": "u:1", "name": "n", "title": "T", "mimeType": "a/b", "description": "d"},
            "[link T] u:1 (a/b): d",
        ),
    ],
)
def test_a_link_is_told_with_all_that_is_known_of_it(part: dict[str, Any], text: str) -> None:
    assert as_text(came({"type": "resource_link", **part})) == text


def test_media_that_cannot_be_carried_leave_a_note() -> None:
    sound = {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"}
    blob = {"type": "resource", "resource": {"uri": "file:///b.bin", "blob": "AAAAAAAA"}}
    assert as_text(came(sound, blob)).split("\n") == [
        "[audio/wav, about 3 bytes, cannot be shown here]",
        "[application/octet-stream file:///b.bin, about 6 bytes, cannot be shown here]",
    ]


def test_media_that_can_be_carried_stay_in_their_place() -> None:
    picture = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
    parts = pieces(came(text_part("a"), picture, text_part("b")), lambda _media: True)
    assert parts == ["a", Media("AAAA", "image/png"), "b"]


@pytest.mark.parametrize("data", ["***", "", "AAA"])
def test_a_picture_that_is_not_base64_is_never_carried(data: str) -> None:
    picture = {"type": "image", "data": data, "mimeType": "image/png"}
    [note] = pieces(came(picture), lambda _media: True)
    assert isinstance(note, str)


@pytest.mark.parametrize(
    ("uri", "mime", "name"),
    [
        ("file:///x/a.pdf", "application/pdf", "a.pdf"),
        ("", "application/pdf", "file.pdf"),
        ("u://", "text", "file.bin"),
        ("", "image/png; q=1", "file.png"),
    ],
)
def test_a_file_gets_a_name(uri: str, mime: str, name: str) -> None:
    assert Media("", mime, uri).filename == name
