"""Questions with known answers about the laws in the shared data, where it is present."""

import os
from pathlib import Path
from typing import NamedTuple

import pytest

LAWS = Path(
    os.environ.get("MCPYARD_LAWS") or Path(__file__).parents[3] / "shared" / "data" / "laws"
)

needs_laws = pytest.mark.skipif(not LAWS.is_dir(), reason="the shared data is not here")


class Example(NamedTuple):
    """The first result of a query; an article of None means any of that law."""

    query: str
    law: str
    article: str | None


STATUTES = [
    Example("民法典 第九百九十条", "民法典 人格权编", "第九百九十条"),
    Example("民法典第990条", "民法典 人格权编", "第九百九十条"),
    Example("民法典 990", "民法典 人格权编", "第九百九十条"),
    Example("Civil Code Article 990", "民法典 人格权编", "第九百九十条"),
    Example("Article 3 of the Constitution", "宪法", "第三条"),
    Example("中华人民共和国民法典 第一千二百六十条", "民法典 附则", "第一千二百六十条"),
    Example("《中华人民共和国劳动合同法》第三十九条", "劳动合同法", "第三十九条"),
    Example("请问消法第五十五条怎么规定", "消费者权益保护法", "第五十五条"),
    Example("公司法 第二百六十六条", "公司法", "第二百六十六条"),
    Example("刑法第一百三十三条之一", "刑法", "第一百三十三条之一"),
    Example("刑法 第133条之1", "刑法", "第一百三十三条之一"),
    Example("第一千二百五十九条", "民法典 附则", "第一千二百五十九条"),
    Example("婚", "民法典 婚姻家庭编", None),
    Example("矿", "矿山安全法", None),
    Example("收养", "民法典 婚姻家庭编", None),
    Example("要约", "民法典 合同编", None),
    Example("贪污", "刑法", "第三百八十二条"),
    Example("隐私权", "民法典 人格权编", "第一千零三十二条"),
    Example("诚信原则", "民法典 总则", "第七条"),
    Example("醉酒驾驶机动车", "刑法", "第一百三十三条之一"),
    Example("经济补偿按劳动者在本单位工作的年限", "劳动合同法", "第四十七条"),
    Example("劳动者解除劳动合同 提前三十日", "劳动法", "第三十一条"),
    Example("从高空抛掷物品要承担什么刑事责任", "刑法", "第二百九十一条之二"),
]

_ZHANG_LI = "张莉诉北京合力华通汽车服务有限公司买卖合同纠纷案"
CASES = {
    _ZHANG_LI: _ZHANG_LI,
    "张莉": _ZHANG_LI,
    "加班费的仲裁时效应当如何认定": "加班费的仲裁时效应当如何认定",
    "打印遗嘱": "五种遗嘱形式已不足 打印遗嘱如何写才有效",
    "外挂脚本": "游戏“外挂脚本”被封号 玩家起诉游戏公司被驳回",
    "A医院": "石某某诉A医院医疗服务合同案",
}
