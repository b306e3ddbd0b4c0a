"""The store, Valkey or Redis: its keys, its Functions, and all calls to it.

`opening.py` opens a store, `keys.py` describes every key, `functions/` holds the writes.
"""
