"""Storms: whole races on real processes while faults of every kind are thrown at them.

`town.py` is what is struck: players on lines of their own, a balancer, several nodes, a store.
`fault.py` says what a fault is; each family has a module. `storm.py` throws them, by a seed.
`auditor.py` holds every race against what the players were told, `leaks.py` looks what is left.
"""
