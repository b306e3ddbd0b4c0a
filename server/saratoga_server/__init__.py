"""The house: deals, judges, stores, pays."""
