# SPDX-License-Identifier: Apache-2.0
"""The inference servers of a cluster, of which an actor uses one."""
import re
import sys
import threading
import time

_SECONDS_BETWEEN_READS = 1
_MAX_FILE_BYTES = 1 << 20


def _read(file):
    """Blank lines and those that begin with # are left out, as in lib/platform/transport/address_list.h."""
    try:
        with open(file, "rb") as opened:
            content = opened.read(_MAX_FILE_BYTES + 1)
        if len(content) > _MAX_FILE_BYTES:
            raise ValueError(f"{file} is larger than {_MAX_FILE_BYTES} bytes")
        lines = [line for line in re.split(r"[\r\n]+", content.decode()) if line and not line.startswith("#")]
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{file} cannot be read: {error}") from error
    for line in lines:
        host, _, port = line.rpartition(":")
        if not host or not port or " " in line or "\t" in line:
            raise ValueError(f"{file}: '{line}' is not host:port or unix:PATH")
        if lines.count(line) > 1:
            raise ValueError(f"{file} names {line} twice")
    if not lines:
        raise ValueError(f"{file} names no inference server")
    return lines


class InferenceServers:
    """`address` for ever, or those that `file` names, one a line, of which the actor `number` takes its own in turn.

    The file is read again at most once a second. What it does not say rightly changes nothing and is printed once; only
    the constructor raises ValueError for it. Thread-safe.
    """

    def __init__(self, address=None, file=None, number=0):
        self._lock = threading.Lock()
        self._file = file
        self._number = number
        self._addresses = _read(file) if file else [address]
        self._next_read = time.monotonic() + _SECONDS_BETWEEN_READS
        self._error = ""

    def current(self):
        with self._lock:
            self._refresh()
            return self._addresses[self._number % len(self._addresses)]

    def watch(self, address, ended, on_change):
        """Calls `on_change()` from a thread once the actor's server is another one than `address`, unless the event
        `ended` is set before."""
        if self._file is None:
            return

        def wait():
            while not ended.wait(_SECONDS_BETWEEN_READS):
                if self.current() != address:
                    on_change()
                    return

        threading.Thread(target=wait, daemon=True).start()

    def _refresh(self):
        if self._file is None or time.monotonic() < self._next_read:
            return
        self._next_read = time.monotonic() + _SECONDS_BETWEEN_READS
        error = ""
        try:
            self._addresses = _read(self._file)
        except ValueError as refused:
            error = str(refused)
        if error and error != self._error:
            print(f"event=addresses_refused of='inference server' reason={error!r}", file=sys.stderr, flush=True)
        self._error = error
