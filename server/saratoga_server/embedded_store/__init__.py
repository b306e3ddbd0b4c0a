"""A store of the house's own, where the host names none."""
