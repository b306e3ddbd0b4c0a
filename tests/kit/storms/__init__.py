"""Storms: whole races on real processes while faults of every kind are injected.

`installation.py` starts players with a link each, several nodes and a store. `fault.py` defines a
fault, and each family of faults has a module. `storm.py` injects them in an order that a seed
determines. `auditor.py` compares every race with what the players received, and `leaks.py` looks for
what nodes and store still hold afterwards.
"""
