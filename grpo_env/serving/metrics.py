"""The server's Prometheus metrics."""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from .pieces import EncodedScore
from .pool import WorkerPool

# Seconds, from a score without computer algebra to the longest plausible deadline.
BUCKETS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60, 120)


class Metrics:
    """The metrics of one server."""

    def __init__(self, pool: WorkerPool) -> None:
        self._registry = registry = CollectorRegistry()
        self._requests = Counter("grpo_env_requests", "Requests by status.", ("route", "status"), registry=registry)
        self._seconds = Histogram(
            "grpo_env_request_seconds", "From headers to response.", ("route",), registry=registry, buckets=BUCKETS
        )
        self._items = Counter(
            "grpo_env_items", "Items by the status of their score.", ("task", "status"), registry=registry
        )
        self.accepted = Gauge("grpo_env_queue_requests", "Requests accepted and not answered yet.", registry=registry)
        registry.register(_PoolCollector(pool))
        ProcessCollector(registry=registry)  # of the server without its scoring processes

    def answered(self, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        self._requests.labels(route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def scored(self, task: str, scores: Iterable[EncodedScore]) -> None:
        """Count items."""
        for score in scores:
            self._items.labels(task, score.status).inc()

    def page(self) -> bytes:
        """All metrics in Prometheus' text format."""
        return generate_latest(self._registry)


class _PoolCollector(Collector):
    """The state of the pool at the time of collection."""

    def __init__(self, pool: WorkerPool) -> None:
        self._pool = pool

    def collect(self) -> Iterable[GaugeMetricFamily | CounterMetricFamily]:
        pool = self._pool
        yield GaugeMetricFamily("grpo_env_queue_pieces", "Pieces that no process has begun.", value=pool.waiting)
        yield GaugeMetricFamily("grpo_env_workers", "Running scoring processes.", value=pool.alive)
        yield CounterMetricFamily("grpo_env_worker_restarts", "Processes that replaced others.", value=pool.restarts)
