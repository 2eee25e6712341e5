# SPDX-License-Identifier: Apache-2.0
"""Clients of a replay store that is compared with ours, a process each, since Python has one lock.

A client has insert(seconds, items) and sample(seconds), which return how many a second. It is made in its process by
calling `make(*words)`, so both must be picklable.
"""
import multiprocessing


def work(connection, make, words):
    """Does what it is told, (method, arguments), until it is told None."""
    client = make(*words)
    for method, *arguments in iter(connection.recv, None):
        connection.send(getattr(client, method)(*arguments))


def start(make, words):
    here, there = multiprocessing.Pipe()
    multiprocessing.Process(target=work, args=(there, make, words), daemon=True).start()
    return here


class ReplayClients:
    def __init__(self, writers, samplers):
        """Both are connections that `start` returned; one may be in both if no phase does both."""
        self.writers, self.samplers = writers, samplers

    def fill(self, items):
        self.writers[0].send(("insert", 1e9, items))
        self.writers[0].recv()

    def measure(self, phase, seconds):
        inserting = self.writers if phase != "sample" else []
        sampling = self.samplers if phase != "insert" else []
        for connection in inserting:
            connection.send(("insert", seconds))
        for connection in sampling:
            connection.send(("sample", seconds))
        return {"inserted_per_second": sum(connection.recv() for connection in inserting),
                "sampled_per_second": sum(connection.recv() for connection in sampling)}

    def end(self):
        for connection in {id(connection): connection for connection in self.writers + self.samplers}.values():
            connection.send(None)
