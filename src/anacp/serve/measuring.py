"""What is counted, in the text form of Prometheus."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator

from anacp.serve.service import Service

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Measures:
    """Counts of requests by method, route and status, and how long they took."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: dict[tuple[str, str, int], int] = defaultdict(int)
        self._took: dict[str, list[float]] = defaultdict(lambda: [0.0] * (len(SECONDS) + 2))

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        with self._lock:
            self._requests[method, route, status] += 1
            took = self._took[route]
            took[bisect_left(SECONDS, seconds)] += 1.0
            took[-1] += seconds

    def text(self, service: Service) -> str:
        """Return everything, one number a line."""
        return "\n".join([*self._lines(), *_state(service), ""])

    def _lines(self) -> Iterator[str]:
        with self._lock:
            requests, took = dict(self._requests), {route: list(one) for route, one in self._took.items()}
        yield "# HELP anacp_requests_total Requests that were answered."
        yield "# TYPE anacp_requests_total counter"
        for (method, route, status), count in sorted(requests.items()):
            labels = f'method="{_escaped(method)}",route="{_escaped(route)}",status="{status}"'
            yield f"anacp_requests_total{{{labels}}} {count}"
        yield "# HELP anacp_request_seconds How long requests took."
        yield "# TYPE anacp_request_seconds histogram"
        for route, counts in sorted(took.items()):
            name, total = f'route="{_escaped(route)}"', 0.0
            for bound, n in zip((*map(str, SECONDS), "+Inf"), counts[:-1], strict=True):
                total += n
                yield f'anacp_request_seconds_bucket{{{name},le="{bound}"}} {total:g}'
            yield f"anacp_request_seconds_sum{{{name}}} {counts[-1]:.6f}"
            yield f"anacp_request_seconds_count{{{name}}} {total:g}"


def _state(service: Service) -> Iterator[str]:
    state, snapshot, gatherer = service.state, service.snapshot, service.gatherer
    found = {
        "version": ("gauge", "The version of the model.", state.version),
        "solved_version": ("gauge", "The version that answers.", snapshot.version),
        "examples": ("gauge", "Examples that are known.", state.classifier.n_examples),
        "solve_seconds": ("gauge", "What the last solve took.", round(snapshot.seconds, 6)),
        "batches_total": ("counter", "Batches that the backbone was given.", gatherer.n_batches),
        "items_total": ("counter", "Items in these batches.", gatherer.n_items),
    }
    for name, (kind, words, value) in found.items():
        yield f"# HELP anacp_{name} {words}"
        yield f"# TYPE anacp_{name} {kind}"
        yield f"anacp_{name} {value}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
