"""What must survive, in SQLite: the second engine of the same ports can stand beside it.

Owns `state.db`, where a write that returned survives the loss of power, and `journal.db`, where
it need not. `store.Store` opens both. May import `domain`, and of `wire` the credentials' port.
"""
