"""What goes into the store and between nodes, packed."""
