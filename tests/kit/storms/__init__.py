"""Storms: whole races on real processes while faults of every kind are injected (`storm.py`)."""
