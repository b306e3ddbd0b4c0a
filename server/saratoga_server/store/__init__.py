"""The house's memory: Redis or Valkey behind the ports.

`connection.py` opens it, `keys.py` says where everything lies, `functions/` holds the writes.
"""
