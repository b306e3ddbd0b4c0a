"""Adapters of the ports on Redis or Valkey.

`opening.py` opens a store, `keys.py` describes every key, `functions/` holds the writes.
"""
