"""Packed messages: values in the store, and events between nodes."""
