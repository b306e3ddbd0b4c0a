"""The players' side: everything that talks to a house."""
