"""One set of servers in every program: its sources, its targets, and carrying a plan out."""
