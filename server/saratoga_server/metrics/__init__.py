"""The metrics of this node, for Prometheus."""
