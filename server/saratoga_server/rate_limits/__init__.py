"""How much one connection, one player and one address may ask, and whose address it is."""
