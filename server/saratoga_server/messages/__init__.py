"""What goes into the store and between nodes, packed, and the periods that rankings are named by."""
