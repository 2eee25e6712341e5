# SPDX-License-Identifier: Apache-2.0
"""What `shoal` and Prometheus read of an actor, under the names that the actor in C++ gives it (actor/loop/actor_metrics.cc
of the repository), and how `shoal` shows it (lib/platform/runtime/metrics.h)."""
import os
import resource

import prometheus_client
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import CollectorRegistry

from shoal_gym.messages import Status

# Values alone, without the times at which they began to be counted.
prometheus_client.disable_created_metrics()
_INFO = ("metric", "kind", "help", "group", "unit", "title", "draw", "over", "status")
_MACHINE = {"group": "machine", "draw": "labels"}


class _ProcessUsage:
    """Processor time and memory of this process, read whenever somebody asks. Without /proc there is no memory."""

    CPU = ("shoal_process_cpu_seconds_total", "Processors that each program keeps busy, all its processes together.")
    MEMORY = ("shoal_process_resident_bytes",
              "Resident memory of a process of each program, the mean where there are several.")

    def collect(self):
        used = resource.getrusage(resource.RUSAGE_SELF)
        yield self._made(CounterMetricFamily, self.CPU, used.ru_utime + used.ru_stime)
        try:
            with open("/proc/self/statm", encoding="ascii") as file:
                pages = int(file.read().split()[1])
        except OSError:
            return
        yield self._made(GaugeMetricFamily, self.MEMORY, pages * os.sysconf("SC_PAGESIZE"))

    @staticmethod
    def _made(family, texts, value):
        made = family(*texts, labels=("program",))
        made.add_metric(("actor",), value)
        return made


class ActorMetrics:
    """Thread-safe."""

    def __init__(self):
        self._registry = CollectorRegistry()
        self._infos = prometheus_client.Gauge(
            "shoal_metric_info", "What each metric of this process is, and how it is shown.", _INFO,
            registry=self._registry)
        self._steps = self._counter("shoal_environment_steps_total", "Steps of all environments")
        self._fenced = self._counter("shoal_environments_fenced_total", "Environments that a newer actor took over")
        self._episodes = self._counter("shoal_episodes_total", "Episodes that came to their end")
        self._episode_steps = self._counter("shoal_episode_steps_total", "Steps of finished episodes")
        # A gauge, as returns may be negative.
        name, text = "shoal_episode_return_sum", "Sum of the returns of all episodes"
        self._describe(name, "gauge", text, group="learning", title="mean return in training",
                       over="shoal_episodes_total", status="return")
        self._returns = prometheus_client.Gauge(name, text, registry=self._registry)
        rows = self._counter("shoal_act_rows_total", "Rows answered by inference", "status")
        self._rows = {number: rows.labels(name.removeprefix("ROW_").lower()) for name, number in Status.items()}
        waits = self._counter(
            "shoal_environment_wait_seconds_total", "Time of all environments by what they wait for", "reason",
            group="where the time went", unit="share", title="environments wait for", draw="shares")
        self._waits = {reason: waits.labels(reason) for reason in ("environment", "inference", "connection")}
        aborted = self._counter("shoal_episodes_aborted_total", "Episodes that were cut off", "reason")
        self._aborted = {reason: aborted.labels(reason) for reason in ("server_restarted", "server_changed")}
        self._describe(_ProcessUsage.CPU[0], "counter", _ProcessUsage.CPU[1], unit="processors", title="processor time",
                       **_MACHINE)
        self._describe(_ProcessUsage.MEMORY[0], "gauge", _ProcessUsage.MEMORY[1], unit="bytes", title="resident memory",
                       **_MACHINE)
        self._registry.register(_ProcessUsage())

    def _counter(self, name, text, *labels, **shown):
        self._describe(name, "counter", text, **({"unit": "per second", "draw": "rate"} | shown))
        return prometheus_client.Counter(name, text, labels, registry=self._registry)

    def _describe(self, name, kind, text, **shown):
        words = name.removeprefix("shoal_").removesuffix("_total").replace("_", " ")
        info = {"metric": name, "kind": kind, "help": text, "group": words.split()[0], "unit": "", "title": words,
                "draw": "value", "over": "", "status": ""}
        self._infos.labels(**(info | shown)).set(1)

    def count_step(self):
        self._steps.inc()

    def count_episode(self, steps, total):
        self._episodes.inc()
        self._episode_steps.inc(steps)
        self._returns.inc(total)

    def count_row(self, status):
        """Counts an answer of inference. A status that this package does not know is left out."""
        if status in self._rows:
            self._rows[status].inc()

    def count_wait(self, reason, seconds):
        """Counts a time that all environments together have waited for "environment", "inference" or "connection"."""
        self._waits[reason].inc(seconds)

    def count_fenced(self):
        self._fenced.inc()

    def count_aborted(self, reason, episodes):
        """Counts episodes that were cut off as their server was "server_restarted", or is another: "server_changed"."""
        self._aborted[reason].inc(episodes)

    def serve(self, address):
        """Serves them at `address`, "host:port", for as long as the process lives. Raises OSError where it is in use."""
        host, _, port = address.rpartition(":")
        prometheus_client.start_http_server(int(port), host, self._registry)
