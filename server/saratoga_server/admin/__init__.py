"""What whoever runs a server may do to it."""
