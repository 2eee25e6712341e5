# SPDX-License-Identifier: Apache-2.0
"""Other ways to keep what is to be replayed, beside which ours is read: they do less, so no ratio is made of them.

cpprb is a buffer in the memory of one Python process: nothing goes to another one. It takes items in batches of 64 and
gives them in batches of 256.

Redis is a store for any bytes, in a process of its own, as people build replay of: each item is a value under its number
modulo the capacity, because a list or a stream has no random access in constant time. A writer sends 64 items at once, a
sampler asks for 64 random ones. It knows no priorities and no rate.

Both keep payloads of the same random bytes, copy out what they sample, and add up the words of each.
"""
import pathlib
import socket
import subprocess
import tempfile
import time

import cpprb
import numpy
import redis

from replay_clients import ReplayClients, start

BATCH = 64


def payload_of(size):
    return numpy.random.default_rng(1).integers(0, 255, size, dtype=numpy.uint8)


class CpprbBuffer:
    """A buffer and what uses it, in one process."""
    SAMPLED = 256

    def __init__(self, size, selector, capacity):
        columns = {"bytes": {"shape": size, "dtype": numpy.uint8}}
        self.prioritized = selector == "prioritized"
        self.buffer = (cpprb.PrioritizedReplayBuffer(capacity, columns, alpha=0.6) if self.prioritized else
                       cpprb.ReplayBuffer(capacity, columns))
        self.batch = numpy.tile(payload_of(size), (BATCH, 1))
        self.checksum = 0

    def insert(self, seconds, items=2**62):
        count, begin = 0, time.perf_counter()
        priorities = {"priorities": numpy.full(BATCH, 0.5)} if self.prioritized else {}
        while time.perf_counter() - begin < seconds and count < items:
            self.buffer.add(bytes=self.batch, **priorities)
            count += BATCH
        return count / (time.perf_counter() - begin)

    def sample(self, seconds):
        count, begin = 0, time.perf_counter()
        while time.perf_counter() - begin < seconds:
            sample = self.buffer.sample(self.SAMPLED, **({"beta": 0.4} if self.prioritized else {}))["bytes"]
            self.checksum += int(sample.view(numpy.uint64).sum())
            count += len(sample)
        return count / (time.perf_counter() - begin)


class Cpprb(ReplayClients):
    NAME = "cpprb"
    IN_PROCESS = True

    def __init__(self, arguments, capacity):
        buffer = start(CpprbBuffer, (arguments.bytes, arguments.selector, capacity))
        super().__init__([buffer], [buffer])

    @staticmethod
    def does(phase, _selector):
        return phase != "both"


class RedisClient:
    def __init__(self, address, size, capacity):
        self.client = redis.Redis(**address)
        self.payload = payload_of(size).tobytes()
        self.capacity = capacity
        self.chance = numpy.random.default_rng()
        self.next = 0
        self.checksum = 0

    def insert(self, seconds, items=2**62):
        count, begin = 0, time.perf_counter()
        while time.perf_counter() - begin < seconds and count < items:
            pipeline = self.client.pipeline(transaction=False)
            for _ in range(BATCH):
                pipeline.set(self.next % self.capacity, self.payload)
                self.next += 1
            pipeline.execute()
            count += BATCH
        return count / (time.perf_counter() - begin)

    def sample(self, seconds):
        count, begin = 0, time.perf_counter()
        while time.perf_counter() - begin < seconds:
            for value in self.client.mget(self.chance.integers(0, self.capacity, BATCH).tolist()):
                self.checksum += int(numpy.frombuffer(value, dtype=numpy.uint64).sum())
            count += BATCH
        return count / (time.perf_counter() - begin)


class Redis(ReplayClients):
    NAME = "redis"
    IN_PROCESS = False

    def __init__(self, arguments, capacity):
        self.folder = tempfile.TemporaryDirectory()
        command = ["redis-server", "--save", "", "--appendonly", "no", "--daemonize", "no"]
        if arguments.unix or arguments.shared_memory:
            path = str(pathlib.Path(self.folder.name, "socket"))
            address = {"unix_socket_path": path}
            command += ["--port", "0", "--unixsocket", path]
        else:
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                port = free.getsockname()[1]
            address = {"host": "127.0.0.1", "port": port}
            command += ["--bind", "127.0.0.1", "--port", str(port)]
        self.server = subprocess.Popen(command, cwd=self.folder.name, stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 20
        while True:
            try:
                redis.Redis(**address).ping()
                break
            except redis.exceptions.ConnectionError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
        words = (address, arguments.bytes, capacity)
        super().__init__([start(RedisClient, words) for _ in range(arguments.writers)],
                         [start(RedisClient, words) for _ in range(arguments.samplers)])

    @staticmethod
    def does(_phase, selector):
        return selector == "uniform"

    def end(self):
        super().end()
        self.server.terminate()
        self.server.wait()
        self.folder.cleanup()


REFERENCES = [Cpprb, Redis]
