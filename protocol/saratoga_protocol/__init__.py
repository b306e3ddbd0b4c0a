"""The wire protocol between clients and the server.

`commands` holds the messages of clients, `events` those of the server, `refusals` every reason for
a refusal. `codec` encodes messages into frames and decodes them. `protocol/README.md` is the
specification for other languages.
"""
