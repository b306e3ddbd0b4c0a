"""What a node has counted."""

from saratoga_server.metrics import Metrics


def counted(metrics: Metrics, name: str, **labels: str) -> float | None:
    """Return the value of a metric `saratoga_NAME`; `None` if nothing was counted under these labels."""
    return metrics.registry.get_sample_value(f"saratoga_{name}", labels)


def counted_by(metrics: Metrics, name: str) -> dict[str, float]:
    """Return the values of a metric with one label that are not 0, by label."""
    return {
        next(iter(sample.labels.values())): sample.value
        for family in metrics.registry.collect()
        for sample in family.samples
        if sample.name == f"saratoga_{name}" and sample.value
    }
