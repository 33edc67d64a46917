"""What each command does: one module a command, named like it; its options stand in `groups`."""
