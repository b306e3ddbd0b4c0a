"""Races: dealt, played, searched for what is left in them, counted up, kept."""
