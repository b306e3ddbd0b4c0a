"""The embedded store: a Valkey server that this server runs when no other store is named."""
