"""The files that a web server proves its name with."""

from pathlib import Path
from typing import NamedTuple


class Tls(NamedTuple):
    """The files of a certificate and its key."""

    certificate: Path
    key: Path
