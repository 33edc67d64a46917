"""Keys of well-known services, JSON web tokens and private keys: known by what they look like."""

import re
from collections.abc import Callable
from typing import Final

_KEYS: Final = re.compile(
    r"""(?<![A-Za-z0-9])(?:
      (?:ctx7)?sk-[\w-]{12,}+ | [rs]k_(?:live|test)_\w{8,}+ | whsec_\w{8,}+
    | gh[opsur]_[A-Za-z0-9]{12,}+ | github_pat_\w{12,}+
    | gl(?:pat|ptt|dt|rt|cbt|oas|soat|ft)-[\w-]{12,}+
    | xox[a-z]-[\w-]{8,}+ | xapp-[\w-]{8,}+ | A(?:KIA|SIA)[0-9A-Z]{12,}+
    | AIza[\w-]{20,}+ | ya29\.[\w.-]{12,}+ | GOCSPX-[\w-]{12,}+ | 1//0[\w-]{20,}+
    | hf_[A-Za-z0-9]{12,}+ | npm_[A-Za-z0-9]{20,}+ | pypi-[\w-]{20,}+
    | do[opr]_v1_[0-9a-f]{20,}+ | shp(?:at|ss|ca|pa)_\w{12,}+ | sbp_\w{20,}+
    | SG\.[\w-]{12,}+\.[\w-]{12,}+ | (?:gsk|ntn|figd|lin_api|secret)_\w{20,}+
    | (?:pplx|tvly|fc|xai|nvapi)-[\w-]{20,}+ | r8_[A-Za-z0-9]{20,}+
    | dckr_[op]at_[\w-]{12,}+ | glsa_\w{20,}+ | sntry[sur]_[\w+/=.-]{20,}+ | hv[sb]\.[\w-]{20,}+
    | ATATT3[\w=-]{20,}+ | PMAK-[0-9a-f]{20}[\w-]*+ | apify_api_\w{20,}+ | e2b_[0-9a-f]{20,}+
    | dapi[0-9a-f]{32}+ | ph[xs]_\w{20,}+ | pscale_(?:tkn|pw|oauth)_[\w.-]{20,}+
    | dp\.[a-z]{2,9}\.[\w.-]{20,}+ | (?:NRAK|HRKU)-[\w-]{20,}+
    | \d{8,12}:AA[\w-]{30,}+
    | AGE-SECRET-KEY-1[0-9A-Z]{20,}+ | eyJ[\w-]{6,}+\.[\w-]{6,}+\.[\w-]{4,}+
    )""",
    re.VERBOSE,
)
_MARKS: Final = (
    *("sk-", "k_live_", "k_test_", "whsec_", "xox", "xapp-", "AKIA", "ASIA", "AIza"),
    *("gh", "github_pat_", "gl"),
    *("ya29.", "GOCSPX-", "1//0", "hf_", "npm_", "pypi-", "_v1_", "shp", "sbp_", "SG.", "gsk_"),
    *("ntn_", "figd_", "lin_api_", "secret_", "pplx-", "tvly-", "fc-", "xai-", "nvapi-", "r8_"),
    *("dckr_", "sntry", "hvs.", "hvb.", "ATATT3", "PMAK-", "apify_api_", "e2b_", "AGE-SECRET"),
    *("dapi", "phx_", "phs_", "pscale_", "dp.", "NRAK-", "HRKU-", ":AA", "eyJ"),
)
"""Of these, one is in every text that the pattern matches: to look for them costs much less."""

PRIVATE_KEY: Final = re.compile(
    r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----[^-]*+"
    r"(?:-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?"
)


def without_keys(text: str, hide: Callable[[re.Match[str]], str]) -> str:
    """A text in which what `hide` makes of each key stands in its place."""
    return _KEYS.sub(hide, text) if any(mark in text for mark in _MARKS) else text
