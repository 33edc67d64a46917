"""Who may ask what: the layer in front of every route."""
