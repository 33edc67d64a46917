"""The article that an argument names, beside another argument that names the law."""

from dataclasses import dataclass

from mcpyard.legal import notices
from mcpyard.legal.not_found import TextNotFound
from mcpyard.legal.query import numerals
from mcpyard.legal.query.folding import one_line
from mcpyard.legal.query.law_mentions import law_mentions
from mcpyard.legal.query.numerals import Number
from mcpyard.legal.query.titles import Law, LawNames


@dataclass(frozen=True, slots=True)
class ArticleArgument:
    """The number of an article, with the paragraph and item; None where it is named by a word."""

    number: Number | None
    paragraph: int = 0
    item: int = 0
    notices: tuple[str, ...] = ()


def read_article(article: str, law: Law, names: LawNames) -> ArticleArgument:
    """What an argument names; only the first of several articles is read, and that is said.

    Raises:
        TextNotFound: It names another law.
    """
    text = one_line(article)
    numbers = numerals.mentions(text)
    for mention in law_mentions(text, names, numbers):
        if not isinstance(mention.law, Law) or mention.law.title != law.title:
            message = notices.say("two_laws", other=mention.law.name, law=law.name)
            raise TextNotFound(message, [mention.law.name] if isinstance(mention.law, Law) else [])
    if not numbers:
        return ArticleArgument(numerals.read(article))
    first, others = numbers[0], [*dict.fromkeys(str(each.number) for each in numbers[1:])]
    unread = [each for each in others if each != str(first.number)]
    if any(each.ends_long_range for each in numbers):
        unread.insert(-1, "...")
    skipped = (notices.say("one_article", others=", ".join(unread)),) if unread else ()
    return ArticleArgument(first.number, first.paragraph, first.item, skipped)
