"""Definitions out of pasted text: JSON, TOML, commands."""
