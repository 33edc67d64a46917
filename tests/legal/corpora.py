"""Small corpora of invented laws, for tests of what is found in them."""

from pathlib import Path

from mcpyard.legal.corpus import Corpus
from mcpyard.legal.library import Library
from mcpyard.legal.reading.loading import Report, find, load

LAWS = {
    "劳动合同法(2012-12-28).md": """# 中华人民共和国劳动合同法

<!-- INFO END -->

## 第一章 总 则

第一条 为了示范而写的劳动合同规则。

第二条 用人单位与劳动者订立书面劳动合同。

用人单位不得有下列行为\uff1a

\uff08一\uff09扣押证件\uff1b

\uff08二\uff09收取财物。

第三条 劳动者依照本法第二条订立的合同有效\uff0c参照民法典第一条执行。

第四条 试用期不得超过六个月。

## 第二章 附 则

第五条 本法自2008年1月1日起施行。

第五条之一 本法的示范解释另行公布。
""",
    "民法典/总则.md": """# 中华人民共和国民法典

# 总则

2020年5月28日 通过

<!-- INFO END -->

第一条 诉讼时效期间为三年。
""",
    "民法典/附则.md": """# 中华人民共和国民法典

# 附则

2020年5月28日 通过

<!-- INFO END -->

第二条 本法自2021年1月1日起施行。《中华人民共和国合同法》、《中华人民共和国示范旧法》同时废止。
""",
    "示范旧法(1999-01-01).md": """# 中华人民共和国示范旧法

<!-- INFO END -->

第一条 旧的诉讼时效规定。
""",
    "公司法(2018-10-26).md": """# 中华人民共和国公司法

<!-- INFO END -->

第一条 二零一八年的出资规定。

第二条 本法自2006年1月1日起施行。
""",
    "公司法(2023-12-29).md": """# 中华人民共和国公司法

<!-- INFO END -->

第一条 二零二三年的出资规定。

第二条 本法自2024年7月1日起施行。
""",
    "未来法(2026-01-01).md": """# 中华人民共和国未来法

<!-- INFO END -->

第一条 未来的出资规定。

第二条 本法自2099年1月1日起施行。
""",
    "案例/甲诉乙案.md": """# 甲诉乙劳动合同纠纷案

<!-- INFO END -->

## 基本案情

甲入职时被收取押金\uff0c合同第七条另有约定。

## 裁判结果

示范市中级人民法院于2021年3月4日作出\uff082020\uff09示民终字第12号民事判决\uff1a驳回上诉。

## 裁判理由

依照《中华人民共和国劳动合同法》第二条、第四条的规定\uff0c用人单位应当退还。
""",
}


def library_of(folder: Path, laws: dict[str, str] = LAWS) -> tuple[Library, Corpus, Report]:
    """The laws, imported."""
    for name, text in laws.items():
        file = folder / "laws" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    corpus = Corpus(folder / "corpus.db")
    report = load(find(folder / "laws"), corpus, lambda _done, _of: None)
    return Library(corpus), corpus, report
