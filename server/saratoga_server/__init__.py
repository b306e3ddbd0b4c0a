"""The server: deals, judges, stores, pays."""
