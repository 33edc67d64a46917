"""Repositories that both engines share, SQLite and PostgreSQL.

Their statements are in the common subset of the two: `?` for values, `ON CONFLICT (columns)`,
`rowid` for the order of arrival. Owns no database; `store.sqlite` and `store.postgres` have one.
"""
