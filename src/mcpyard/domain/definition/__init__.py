"""Definitions: read, checked, merged, expanded, approved."""
