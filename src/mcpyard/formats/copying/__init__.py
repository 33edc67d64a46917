"""Entries copied from one client to another."""
