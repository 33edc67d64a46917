"""The screens of other programs' servers."""
