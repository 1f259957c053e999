"""What the server counts, for Prometheus."""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from .pool import WorkerPool
from .work import Verdict

# From a verdict without computer algebra to the longest deadline anybody waits for.
BUCKETS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60, 120)


class Metrics:
    """The counters of one server."""

    def __init__(self, pool: WorkerPool) -> None:
        self._registry = registry = CollectorRegistry()
        self._requests = Counter("grpo_env_requests", "Requests by answer.", ("route", "status"), registry=registry)
        self._seconds = Histogram(
            "grpo_env_request_seconds", "From headers to answer.", ("route",), registry=registry, buckets=BUCKETS
        )
        self._items = Counter(
            "grpo_env_items", "Items by the status of the verdict.", ("task", "status"), registry=registry
        )
        self.accepted = Gauge("grpo_env_queue_requests", "Requests accepted and not answered.", registry=registry)
        registry.register(_OfPool(pool))
        ProcessCollector(registry=registry)  # of the server alone, not of its judging processes

    def answered(self, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        self._requests.labels(route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def judged(self, task: str, verdicts: Iterable[Verdict]) -> None:
        """Count items."""
        for verdict in verdicts:
            self._items.labels(task, verdict.status).inc()

    def page(self) -> bytes:
        """All of it in Prometheus' text format."""
        return generate_latest(self._registry)


class _OfPool(Collector):
    """What the pool knows at the moment it is asked."""

    def __init__(self, pool: WorkerPool) -> None:
        self._pool = pool

    def collect(self) -> Iterable[GaugeMetricFamily | CounterMetricFamily]:
        pool = self._pool
        yield GaugeMetricFamily("grpo_env_queue_pieces", "Pieces that no process has begun.", value=pool.waiting)
        yield GaugeMetricFamily("grpo_env_workers", "Judging processes that are there.", value=pool.alive)
        yield CounterMetricFamily("grpo_env_worker_restarts", "Processes that replaced others.", value=pool.restarts)
