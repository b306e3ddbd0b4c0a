"""What the house counts about itself, for Prometheus."""
