# SPDX-License-Identifier: Apache-2.0
"""Networks on one machine: namespaces with an address each, behind one bridge.

`network.py COUNT COMMAND...` runs a command on a machine of its own with COUNT such networks. NETWORKS names their
files, with blanks between them, for `nsenter --net=FILE`. The command has the address 10.99.0.1, and network number i
has 10.99.0.{10 + i} at the other end of the cable node{i}. Without the right to make namespaces it ends with 77."""

import os
import subprocess
import sys
import time
from collections.abc import Callable

PREFIX = "10.99.0"
# What ctest takes for "skipped".
SKIPPED = 77
INSIDE = "SHOAL_INSIDE_A_NODE"


def enter() -> None:
    """Starts this script again in namespaces of a node, unless it is there already. Without the right it ends."""
    if os.environ.get(INSIDE):
        return
    unshare = ["unshare", "--net", "--mount", "--propagation", "private"]
    if subprocess.run([*unshare, "true"], check=False).returncode != 0:
        print("skipped: this user may not make namespaces of networks and mounts")
        sys.exit(SKIPPED)
    os.execvpe("unshare", [*unshare, sys.executable, *sys.argv], os.environ | {INSIDE: "1"})


def run(*words: object) -> None:
    subprocess.run([str(word) for word in words], check=True)


def eventually(holds: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if holds():
            return True
        time.sleep(0.1)
    return holds()


def address_of(number: int) -> str:
    return f"{PREFIX}.{10 + number}"


def make_bridge() -> None:
    run("ip", "link", "set", "lo", "up")
    run("ip", "link", "add", "pods", "type", "bridge")
    run("ip", "address", "add", f"{PREFIX}.1/24", "dev", "pods")
    run("ip", "link", "set", "pods", "up")


def connect(number: int, pid: int) -> None:
    """Connects the network that a child of this process makes for itself: node{number} here, pod{number} there."""
    here = os.readlink("/proc/self/ns/net")
    if not eventually(lambda: os.readlink(f"/proc/{pid}/ns/net") != here, 10):
        raise RuntimeError(f"the process {pid} has no network of its own")
    run("ip", "link", "add", f"node{number}", "type", "veth", "peer", "name", f"pod{number}", "netns", pid)
    run("ip", "link", "set", f"node{number}", "master", "pods", "up")


def configure(interface: str, address: str, *inside: str) -> None:
    """Gives this network its address, or that in which the command `inside` runs others."""
    run(*inside, "ip", "link", "set", "lo", "up")
    run(*inside, "ip", "address", "add", f"{address}/24", "dev", interface)
    run(*inside, "ip", "link", "set", interface, "up")


def main() -> int:
    make_bridge()
    files = []
    for number in range(int(sys.argv[1])):
        # It ends when this process does, whatever ends it.
        holder = subprocess.Popen(["unshare", "--net", "cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        connect(number, holder.pid)
        files.append(f"/proc/{holder.pid}/ns/net")
        configure(f"pod{number}", address_of(number), "nsenter", f"--net={files[-1]}")
    return subprocess.call(sys.argv[2:], env=os.environ | {"NETWORKS": " ".join(files)})


if __name__ == "__main__":
    enter()
    sys.exit(main())
