"""The servers of other programs: listed, changed, copied, and every change undone again.

Each operation is a function of the texts of some files. A preview and the real thing are the same
function: only the second one writes what it gives.
"""
