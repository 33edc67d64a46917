"""The page: one look answers it.

Templates, catalogues of words, styles and the routes that serve them. May import `yard` and the
pure layers.
"""
