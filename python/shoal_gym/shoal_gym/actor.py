# SPDX-License-Identifier: Apache-2.0
"""Plays several environments on one stream to inference, and opens it again when it ends, or to another server."""
import collections
import os
import random
import sys
import threading
import time

import grpc

from shoal_gym.act_stream import ActStream, Disconnected, Refused
from shoal_gym.messages import Mode, Status

_OVERLOAD_DELAY = 0.005
_SECONDS_BETWEEN_REPORTS = 10


class Actor:
    """All environments are stepped by the calling thread, those together whose answers came together. run() returns when
    `is_done(steps)` says so, when no environment plays on, or after end(), which any thread may call.

    When `servers` has another server for this actor, the episodes under way are begun anew there as after a restart.
    Rows keep their order: a row that must be sent again takes the later ones of its environment with it.
    """

    def __init__(self, servers, spec, players, ended, evaluate, is_done, metrics):
        self._servers = servers
        self._metrics = metrics
        self._spec = spec
        self._ended = ended
        self._players = {player.environment_id: player for player in players}
        self._mode = Mode["ROW_MODE_EVALUATE" if evaluate else "ROW_MODE_TRAIN"]
        self._is_done = is_done
        self._ending = threading.Event()
        self._stream = None
        self._server_epoch = None
        # Why a server does not know the episodes under way, as metrics name it.
        self._cut_by = "server_restarted"
        # The rows without an answer, by environment, the oldest first.
        self._pending = {environment_id: collections.deque() for environment_id in self._players}
        self._fenced = set()
        # The steps of all environments so far.
        self.steps = 0
        # Up to where time has been counted.
        self._mark = time.monotonic()
        self._reported = (time.monotonic(), 0)

    def run(self):
        """Raises Refused when going on is pointless."""
        pause = 0.1
        while not self._ending.is_set():
            address = self._servers.current()
            connected = time.monotonic()
            try:
                self._connect(address)
                return
            except Disconnected as error:
                self._count_wait("connection")
                if self._ending.is_set():
                    return
                moves = self._servers.current() != address
                event = "inference_server_changed" if moves else "disconnected"
                print(f"event={event} server={address} reason={str(error)!r}", file=sys.stderr, flush=True)
            if moves:
                self._server_epoch = None
                self._cut_by = "server_changed"
                continue
            pause = 0.1 if time.monotonic() - connected > 5 else min(2.0, 2 * pause)
            self._ending.wait(pause * random.uniform(0.5, 1))

    def end(self):
        """Lets run() return after the step under way, or within the seconds that a server has to welcome a stream. What
        is under way is dropped."""
        self._ending.set()
        stream = self._stream
        if stream:
            stream.close()

    def _connect(self, address):
        ended = threading.Event()
        with grpc.insecure_channel(address) as channel:
            stream = ActStream(channel, f"shoal-gym-actor {os.getpid()}", self._spec)
            self._stream = stream
            try:
                if self._ending.is_set():
                    return
                self._count_wait("connection")
                self._servers.watch(address, ended, stream.close)
                self._play(stream)
            except Disconnected:
                self._count_wait("inference")
                raise
            finally:
                ended.set()
                stream.close()

    def _count_wait(self, reason):
        """Counts the time since the last call, in which all environments waited alike, as they have one thread."""
        now = time.monotonic()
        self._metrics.count_wait(reason, (now - self._mark) * len(self._players))
        self._mark = now

    def _play(self, stream):
        self._send(stream, self._rows_to_begin_with(stream.server_epoch))
        self._count_wait("environment")
        for answers in stream.answers():
            self._count_wait("inference")
            rows = []
            overloaded = set()
            for environment_id, sequence, status, action, resumed in answers:
                pending = self._pending.get(environment_id, ())
                row = next((row for row in pending if row.sequence == sequence), None)
                if row is None:
                    continue
                self._metrics.count_row(status)
                if status in (Status["ROW_OVERLOADED"], Status["ROW_EXPIRED"]):
                    overloaded.add(environment_id)
                    continue
                pending.remove(row)
                if status == Status["ROW_FENCED"]:
                    self._fenced.add(environment_id)
                    self._metrics.count_fenced()
                    pending.clear()
                    self._players[environment_id].give_up()
                    rows.extend(self._rows_of_the_rested())
                elif status == Status["ROW_OK"] and environment_id not in self._fenced:
                    rows.extend(self._players[environment_id].step(action))
                    self.steps += 1
                    self._metrics.count_step()
                elif resumed is not None:
                    pending.clear()
                    rows.extend(self._players[environment_id].resume(resumed))
            self._send(stream, rows)
            again = [row for environment_id in overloaded for row in self._pending[environment_id]]
            stream.send(again, self._mode, delay=_OVERLOAD_DELAY)
            self._report()
            self._count_wait("environment")
            if self._is_done(self.steps) or not any(self._pending.values()):
                break
        if len(self._fenced) == len(self._players):
            raise Refused("a newer actor plays every environment of this one")

    def _rows_to_begin_with(self, server_epoch):
        """What the server lacks: the rows without an answer, or new episodes when it has forgotten the running ones."""
        known = server_epoch == self._server_epoch
        self._server_epoch = server_epoch
        rows = []
        for environment_id, player in self._players.items():
            pending = self._pending[environment_id]
            if known:
                rows.extend(pending)
            elif environment_id not in self._fenced:
                self._metrics.count_aborted(self._cut_by, 0 if player.rests() else 1)
                rows.extend(player.begin_again())
            pending.clear()
        self._cut_by = "server_restarted"
        return rows

    def _rows_of_the_rested(self):
        """The first rows of episodes that were given up when all others had been handed out."""
        return [row for environment_id, player in self._players.items()
                if player.rests() and environment_id not in self._fenced for row in player.begin()]

    def _send(self, stream, rows):
        for row in rows:
            self._pending[row.environment_id].append(row)
        stream.send(rows, self._mode)

    def _report(self):
        then, steps = self._reported
        now = time.monotonic()
        if now - then < _SECONDS_BETWEEN_REPORTS:
            return
        self._reported = (now, self.steps)
        print(f"event=progress env_steps={self.steps} steps_per_second={(self.steps - steps) / (now - then):.0f} "
              f"episodes={self._ended.count} return={self._ended.mean_return():.1f}", file=sys.stderr, flush=True)
