"""The REST face and its security layer.

May import `yard` and the pure layers.
"""
