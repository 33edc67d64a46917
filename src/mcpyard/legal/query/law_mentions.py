"""The laws that a query names, in the collection or not, and the version it wants."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from mcpyard.legal.query.law_versions import version_after_name, version_before
from mcpyard.legal.query.numerals import Mention
from mcpyard.legal.query.titles import ENGLISH_FILLERS, STATE, Law, LawNames, OutsideLaw

_HAN: Final = "\u3400-\u9fff"
_SUFFIX: Final = "法典|法|条例|规定|办法|解释|细则|规则|决定|准则|通则|公约"
# 合同法律 and 公司法人 name no law; 公司法规定 does.
_NO_NAME_BEFORE: Final = re.compile("律|院|官|定|人|学|规(?!定)|理|庭|治|制|系|盲")
# Before a number or in quotes, fewer words are too ordinary to be the name of a law.
_NO_NAMED_LAW: Final = re.compile(
    "(?:违|合|非|依|无|没|执|守|犯|知|懂|枉|普)法$|^(?:商|公|私|护|国内|部门|实体|程序)法$"
    f"|^[本该此其]?(?:{_SUFFIX})$|^最高法$"
)
_NO_LAW: Final = re.compile(
    "(?:方|办|无|违|合|非|执|司|立|守|犯|设|想|看|做|说|依|书|用|算|语|没|手|疗|不|枉|变|护|普|知|懂|"
    "商|公|私|国内|部门|实体|程序)法$|^最高法$"
)
_LEADING: Final = (
    "根据|依据|依照|按照|违反|触犯|适用|参照|关于|我国|中国|现行|修订后|修正后|修订前|修正前|最新|"
    "查询|查找|查一下|查|请问|请|什么是|引用|援引|以及|或者|和|与|及|或|的|在|是|看看|看|读|说明|那么|"
    "一下|帮我|告诉我|告诉|想问|我想|时候|当时|时|贯彻|执行|实施|落实|遵守|是不是|是否|属于|符合|构成|对照|比较|参见|详见|见|参考|解读|理解|"
    "学习|找出|找|列出|给我|显示|违背|犯了|犯|按|依|照|据|由|从|因|被|对|问|把|新|旧|老|原|版|年|中|下|了|"
    "条|款|项|日|号|月"
)
_LEADING_END: Final = re.compile(f"(?:{_LEADING})$")
_WHOLE_WORDS: Final = re.compile(
    "根据|依据|依照|按照|违反|触犯|适用|参照|关于|我国|现行|查询|查找|请问|引用|援引|以及|或者|帮我|告诉我|"
    f"想问|我想|是否|属于|符合|构成|参见|详见|违背|{STATE}"
)
_QUOTED: Final = re.compile(r"《([^《》]{2,60})》")
_ORDINAL: Final = r"(?:\s*\(?(?:[一二三四五六七八九十]{1,3}|\d{1,2})\)?)?"
_BEFORE_NUMBER: Final = re.compile(
    rf"([{_HAN}]{{1,60}}(?:{_SUFFIX})(?:(?<=解释|规定|意见){_ORDINAL})?)\s*$"
)
_DRAFT: Final = "(?:草案|征求意见稿|送审稿|审议稿)"
# 公司法司法解释三第十三条 is not the thirteenth article of the 公司法.
_TEXT_ABOUT_IT: Final = re.compile(
    rf"编?》?\s*的?(?:(?:若干问题的?)?(?:司法|立法)解释{_ORDINAL}|若干问题的?(?:解释|规定|意见|批复){_ORDINAL}"
    rf"|实施(?:细则|条例|办法|规定)|(?:修订|修正)?{_DRAFT}|\([^()]{{0,20}}{_DRAFT}[^()]{{0,20}}\)|释义"
    rf"|解释{_ORDINAL}(?=》?\s*(?:$|第|\d|[,。;、?!的中里]|关于|对于|规定|怎么)))》?"
)
# Whatever else is called after a law and has articles of its own: 民法典担保制度解释第一条.
_OTHER_TEXT: Final = re.compile(
    rf"[{_HAN}《》]{{0,30}}(?:解释|规定|办法|细则|条例|意见|决定|批复|通知|纪要|规则|修正案){_ORDINAL}"
    r"(?:\s*\(?\d{4}年?\)?)?》?\s*"
)
_JOINED: Final = re.compile("》?\\s*(?:及|和|与|或|以及|、)")
_ITS_OWN_RULES: Final = re.compile(
    rf"》?\s*(?:(?:的|关于|对|中|里|上|下|怎么|如何|有关|相关|根据|依据)"
    rf"(?:(?!问题|若干)[{_HAN}]){{0,30}}"
    "|(?:已经|现行|明确|明文|具体|另有|有|也|都|就)*)规定》?\\s*"
)
_IMPLEMENTING: Final = re.compile(rf"[{_HAN}]{{0,20}}?(?:实施|贯彻执行|贯彻|执行)《?(?:{STATE})?$")
_IMPLEMENTED: Final = re.compile(
    rf"》?\s*(?:若干问题)?的?(?:若干)?(?:办法|规定|细则|条例|意见){_ORDINAL}"
    r"(?=》?\s*(?:$|第|\d|[,。;、?!的中里]))"
)
_LATER_AMENDMENT: Final = re.compile(
    r"\s*\(?(?:[一二三四五六七八九十]{1,3}|\d{1,2})\)?(?=》?\s*(?:$|第|[,。;、?!的中里]))"
)
_DIGITS: Final = re.compile("[一二三四五六七八九十]{2}")
_AMENDMENT: Final = "修正案"
_INTERPRETED: Final = re.compile(rf"编?》?解释{_ORDINAL}(?=\s)")
_AUTHORITY: Final = re.compile("最高人民法院|最高人民检察院|最高法|最高检|国务院|两高")
_ALONE: Final = re.compile(
    rf"(?<![{_HAN}])([{_HAN}]{{2,20}}(?:法典|法|条例))(?:里面|里|中|关于|对于|规定|怎么)?(?![{_HAN}])"
    rf"|(?<![{_HAN}])([{_HAN}]{{2,12}}(?:法典|法|条例))"
    r"(?:里|中|关于|对于|规定|是?(?:怎么|如何|怎样)(?:规定|说))"
)
_ENGLISH_UNKNOWN: Final = re.compile(
    r"((?:\b[a-z][a-z'-]*\s+(?:of\s+|and\s+|on\s+)?){1,6}(?:law|act|code|regulations?))\b",
    re.IGNORECASE,
)
# Names are compared without these, so one that begins with them would begin too early.
_NO_BEGINNING: Final = frozenset(" 《》的、,.。:;·")
_NO_ENDING: Final = frozenset("、,.。:;")
_LONGEST_PREFIX: Final = 4
_LONGEST_RULE: Final = 40
_ARTICLE: Final = re.compile(r"》?\s*第")
# The same number of another country's law is as wrong as that of another law.
_FOREIGN: Final = (
    "german|austrian|swiss|french|belgian|dutch|italian|spanish|portuguese|greek|polish|swedish"
    "|danish|norwegian|finnish|irish|scottish|english|british|uk|european|eu|russian|soviet"
    "|ukrainian|turkish|israeli|egyptian|indian|pakistani|japanese|korean|taiwanese|taiwan(?:'s)?"
    "|hong kong|macau|macao|vietnamese|thai|malaysian|singapore(?:an)?|indonesian|philippine"
    "|australian|new zealand|canadian|quebec|ontario|mexican|brazilian|argentine|american"
    "|us|u\\.s\\.|usa|californian?|california|new york|delaware|texas|florida|louisiana|roc"
)
_FOREIGN_PLACE: Final = (
    "germany|austria|switzerland|france|belgium|italy|spain|portugal|england|scotland|ireland"
    "|russia|turkey|israel|india|japan|korea|taiwan|hong kong|macau|macao|vietnam|thailand"
    "|singapore|australia|canada|quebec|ontario|mexico|brazil|california|louisiana"
    "|united states|united kingdom|uk|usa|us|eu"
)
_FOREIGN_BEFORE: Final = re.compile(
    rf"\b(?:{_FOREIGN})\s+(?:(?:federal|state)\s+)?$", re.IGNORECASE
)
_FOREIGN_AFTER: Final = re.compile(
    r"\s+of\s+(?:the\s+)?(?:(?!(?i:the|people|prc|china|chinese))[A-Z][a-z]+(?:\s+[A-Z][a-z]+)?"
    rf"|(?i:{_FOREIGN_PLACE})\b)"
)
_OF_CHINA: Final = re.compile(
    r"\s+of\s+(?:the\s+)?(?:people['\u2019]s\s+republic\s+of\s+china|prc|p\.r\.\s?china|china)\b",
    re.IGNORECASE,
)
_ENGLISH_WORD: Final = re.compile(r"[a-z][a-z'-]*", re.IGNORECASE)
_ENGLISH_WINDOW: Final = 12


@dataclass(frozen=True, slots=True)
class LawMention:
    """A law that a text names.

    Attributes:
        law: The law, in the collection or outside it.
        start: Where its name begins in the text, the version included.
        end: Where it ends.
        version: The year or the day of the version that is meant, or OLD; empty for the current.
    """

    law: Law | OutsideLaw
    start: int
    end: int
    version: str = ""


def law_mentions(text: str, names: LawNames, numbers: Sequence[Mention]) -> list[LawMention]:
    """The laws that a text in its normal form names, in order."""
    listed = [*_chinese_names(text, names), *_english_names(text, names)]
    starts = [each.start for each in numbers]
    checked = [
        _text_about_it(_whole_name(each, text, starts), text, names, starts) for each in listed
    ]
    unknown = [
        each
        for each in _unknown_names(text, names, numbers)
        if not any(
            (each.start < other.end and other.start < each.end)
            or _ITS_OWN_RULES.fullmatch(text, other.end, each.end)
            for other in checked
        )
    ]
    return sorted((_dated(each, text) for each in checked + unknown), key=lambda each: each.start)


def _chinese_names(text: str, names: LawNames) -> Iterator[LawMention]:
    place = 0
    while place < len(text):
        if text.startswith(STATE, place):
            place += len(STATE)
        mention = _name_at(text, place, names)
        if mention is not None:
            yield mention
        place = mention.end if mention else place + 1


def _name_at(text: str, place: int, names: LawNames) -> LawMention | None:
    for length in names.lengths:
        name = text[place : place + length]
        if len(name) < length or name.isascii() or " " in name:
            continue
        if name[0] in _NO_BEGINNING or name[-1] in _NO_ENDING:
            continue
        law = names.look_up(name)
        # 刑法修正案十三 is not the tenth.
        if _DIGITS.fullmatch(text[place + length - 1 : place + length + 1]):
            continue
        if law is None or (name.endswith("法") and _NO_NAME_BEFORE.match(text, place + length)):
            continue
        return LawMention(law, place, place + length)
    return None


def _english_names(text: str, names: LawNames) -> Iterator[LawMention]:
    words = [*_ENGLISH_WORD.finditer(text)]
    place = 0
    while place < len(words):
        ends = range(min(len(words), place + _ENGLISH_WINDOW), place, -1)
        mention = next(
            (each for end in ends if (each := _english_name(text, words[place:end], names))), None
        )
        if mention is not None:
            yield mention
            while place < len(words) and words[place].start() < mention.end:
                place += 1
        else:
            place += 1


def _english_name(text: str, words: Sequence[re.Match[str]], names: LawNames) -> LawMention | None:
    if any(words[each][0].lower() in ENGLISH_FILLERS for each in (0, -1)):
        return None
    start, end = words[0].start(), words[-1].end()
    law = names.look_up(text[start:end])
    if law is None:
        return None
    before = _FOREIGN_BEFORE.search(text, max(0, start - _LONGEST_RULE), start)
    after = _FOREIGN_AFTER.match(text, end)
    if before or after:
        start, end = before.start() if before else start, after.end() if after else end
        law = OutsideLaw(text[start:end])
    elif whole := _OF_CHINA.match(text, end):
        end = whole.end()
    return LawMention(law, start, end)


def _whole_name(mention: LawMention, text: str, numbers: Sequence[int]) -> LawMention:
    """The mention, or the longer name that nobody knows: 国际刑法 第五条 is not of the 刑法."""
    gaps = [text[mention.end : start] for start in numbers if start >= mention.end]
    if all(gap.strip(" 》)") for gap in gaps):
        return mention
    before = re.search(rf"[{_HAN}]*$", text[: mention.start])
    prefix = (before[0] if before else "").removesuffix(STATE)
    if not prefix or len(prefix) > _LONGEST_PREFIX or _LEADING_END.search(prefix):
        return mention
    start = mention.start - len(prefix)
    return LawMention(OutsideLaw(text[start : mention.end]), start, mention.end)


def _text_about_it(
    mention: LawMention, text: str, names: LawNames, numbers: Sequence[int]
) -> LawMention:
    """The mention, or the interpretation or rule about the law that the text goes on to name."""
    if isinstance(mention.law, OutsideLaw):
        return mention
    start, end = mention.start, mention.end
    implementing = _IMPLEMENTING.search(text, max(0, start - _LONGEST_RULE), start)
    if implementing and (implemented := _IMPLEMENTED.match(text, end)):
        start, end = _name_start(implementing, 0), implemented.end()
    elif about := _TEXT_ABOUT_IT.match(text, end) or _INTERPRETED.match(text, end):
        end = about.end()
    elif mention.law.title.endswith(_AMENDMENT) and (later := _LATER_AMENDMENT.match(text, end)):
        end = later.end()
    else:
        end = _other_text(mention, text, numbers)
    if end == mention.end:
        return mention
    name = re.sub("[《》]", "", text[start:end]).replace(STATE, "").strip()
    return replace(mention, law=names.look_up(name) or OutsideLaw(name), start=start, end=end)


def _other_text(mention: LawMention, text: str, numbers: Sequence[int]) -> int:
    """Where the name of another text ends that begins like a law's and has the next number."""
    number = next((start for start in numbers if start >= mention.end), None)
    gap = text[mention.end : number] if number is not None else ""
    is_own = _JOINED.match(gap) or _ITS_OWN_RULES.fullmatch(gap)
    is_other = _OTHER_TEXT.fullmatch(gap) and not is_own
    return mention.end + len(gap.rstrip(" 》")) if is_other else mention.end


def _unknown_names(text: str, names: LawNames, numbers: Sequence[Mention]) -> Iterator[LawMention]:
    """Names that look like a law's: in quotes, before an article number, or alone."""
    quoted = [each for each in _QUOTED.finditer(text) if re.search(f"(?:{_SUFFIX})$", each[1])]
    before = [_BEFORE_NUMBER.search(text[: each.start].rstrip("》 ")) for each in numbers]
    spans = [each.span(1) for each in quoted]
    spans += [(_name_start(match, 1), match.end(1)) for match in before if match]
    certain = {*spans}
    spans += [match.span(1) if match[1] else match.span(2) for match in _ALONE.finditer(text)]
    if any(each.is_english for each in numbers):
        spans += [each.span(1) for each in _ENGLISH_UNKNOWN.finditer(text)]
    for start, end in dict.fromkeys(spans):
        name = _bare_name(text[start:end])
        if (
            _may_be_a_law(name, text[end:], is_certain=(start, end) in certain)
            and names.look_up(name) is None
        ):
            yield LawMention(OutsideLaw(name), end - len(name), end)


def _may_be_a_law(name: str, following: str, *, is_certain: bool) -> bool:
    """Whether a name can be a law's; one of two characters, 税法, only before a number."""
    if (_NO_NAMED_LAW if is_certain else _NO_LAW).search(name):
        return False
    return len(name) > 2 or bool(_ARTICLE.match(following))  # noqa: PLR2004


def _name_start(match: re.Match[str], group: int) -> int:
    """Where the name begins: after the last word that leads to one, or at 关于 of a court's."""
    name, start = match[group], match.start(group)
    about = name.find("关于")
    if about >= 0 and _AUTHORITY.search(name[:about]):
        return start + about
    leading = [each.end() for each in _WHOLE_WORDS.finditer(name)]
    return start + max((each for each in leading if each < len(name)), default=0)


def _bare_name(name: str) -> str:
    bare = name.removeprefix(STATE)
    words = bare.split()
    while words and words[0].lower() in ENGLISH_FILLERS | {"what", "does", "is", "say", "says"}:
        words.pop(0)
    return " ".join(words) if bare.isascii() else bare


def _dated(mention: LawMention, text: str) -> LawMention:
    """With the version that stands before or after the name."""
    if after := version_after_name(text, mention.end):
        return replace(mention, end=after[1], version=after[0])
    if before := version_before(text, mention.start, mention.end):
        return replace(mention, start=before[1], version=before[0])
    return mention
