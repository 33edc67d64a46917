"""The articles that a text cites: those of its own law, and those of others."""

import re
from dataclasses import dataclass
from typing import Final

from mcpyard.legal.query import numerals
from mcpyard.legal.query.folding import normal
from mcpyard.legal.query.numerals import Number
from mcpyard.legal.query.titles import key

_OWN: Final = re.compile(r"(?:本法|本条例|本规定|本规则|本编|本章|本法典)$")
_QUOTED: Final = re.compile(r"《([^《》]{2,40})》(?:\([^()]{0,30}\))?(?:\s*第?[^,。;第]{0,6})?$")
_NAMED: Final = re.compile(r"([\u3400-\u9fff]{2,20}?(?:法典|法|条例))(?:\([^()]{0,30}\))?$")
_ANOTHER: Final = re.compile(r"^(?:的规定)?[、,和与及或至到]|^$")
_COURT: Final = re.compile(
    r"([\u3400-\u9fff]{2,24}?(?:人民法院|仲裁委员会|海事法院|知识产权法院|互联网法院|金融法院))"
)
_NUMBERED: Final = re.compile(r"\((?:19|20)\d\d\)[\u3400-\u9fff0-9]{2,20}号")
_DAY: Final = re.compile(r"((?:19|20)\d\d)年(?:(\d{1,2})月)?(?:(\d{1,2})日)?")
_DECISION: Final = re.compile("作出|判决|裁定|裁决|审结")
_LEADING: Final = re.compile(
    "^.*(?:经|向|由|后|为|至|诉|到|在|被|对|是|及|和|请求|要求|根据|审理|指定|撤销|维持|不服|以下简称|一审|二审)"
)

_LEADING_TO_A_LAW: Final = re.compile(
    "^.*(?:根据|依照|依据|按照|适用|违反|参照|符合|构成|以及|我国|[和与及或了在将把])"
)


@dataclass(frozen=True, slots=True)
class Citation:
    """An article that a text cites; `law` is the key of a law's name, empty for its own law."""

    law: str
    number: Number


@dataclass(frozen=True, slots=True)
class CourtDecision:
    """What a text says of the decision of a court: who, when, under which number."""

    court: str
    day: str
    number: str


def citations(text: str, *, bare: bool = False) -> list[Citation]:
    """All articles that a text cites, each once.

    Args:
        text: The text.
        bare: Whether a number without a law counts as one of its own law: so it is in a statute,
            while a case may tell of the articles of a contract.
    """
    flat = normal(text)
    cited: dict[Citation, None] = {}
    law, end = "", 0
    for mention in numerals.mentions(flat):
        between = flat[end : mention.start]
        named = _law_before(between)
        follows = bool(end) and _ANOTHER.match(between) is not None
        if named is not None or not follows:
            law = named or ""
        end = mention.end if named is not None or follows or bare else 0
        if end:
            cited[Citation(law, mention.number)] = None
    return [*cited]


def decisions(text: str) -> list[CourtDecision]:
    """The courts, days and numbers of the decisions that a text tells of."""
    gathered: dict[CourtDecision, None] = {}
    for sentence in re.split(r"[。;\n]", normal(text)):
        courts = [_LEADING.sub("", each) for each in _COURT.findall(sentence)]
        if not courts or not _DECISION.search(sentence):
            continue
        day = max((_written_day(match) for match in _DAY.finditer(sentence)), default="")
        number = next(iter(_NUMBERED.findall(sentence)), "")
        for court in courts:
            if len(court) > len("人民法院"):
                gathered[CourtDecision(court, day, number)] = None
    return [*gathered]


def _law_before(text: str) -> str | None:
    """The law that the text before a number names; empty for the text's own, None for none."""
    before = text.rstrip()
    if _OWN.search(before):
        return ""
    if quoted := _QUOTED.search(before):
        return key(quoted[1])
    if named := _NAMED.search(before):
        return key(_leading_cut(named[1]))
    return None


def _leading_cut(name: str) -> str:
    """The name without the words that lead to it."""
    return _LEADING_TO_A_LAW.sub("", name)


def _written_day(match: re.Match[str]) -> str:
    return "-".join([match[1], *(f"{int(each):02}" for each in match.groups()[1:] if each)])
