"""The tables and connections of this node: who sits where, who hears what."""
