"""Pure text in, text and warnings out: the configuration files of every program.

Owns the lossless editors (`editors/`), one module of facts per client (`clients/`) and the mapping
between them. Never opens a file: it is given text. May import `domain`.
"""
