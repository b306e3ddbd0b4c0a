"""Adapters of the ports on Redis or Valkey.

`opening.py` opens a store, `keys.py` says where everything lies, `functions/` holds the writes.
"""
