# SPDX-License-Identifier: Apache-2.0
"""Becomes the process of a container: `container.py SPEC`, in namespaces of its own for mounts, network, processes and
the host's name, which is the pod's.

SPEC is a JSON file (sandbox.py writes it). A line on standard input says that the network is there. The root is a new
one that nobody can write: the machine's programs and libraries, the image's tree in /shoal, and the pod's volumes. The
process has the user of the manifest, no capabilities, and cannot get any."""

import ctypes
import json
import os
import pathlib
import socket
import sys

from network import configure, run

PR_SET_NO_NEW_PRIVS = 38
SYSTEM = ["bin", "lib", "lib64", "sbin", "usr"]
DEVICES = ["null", "random", "urandom", "zero"]


def bind(source: pathlib.Path, target: pathlib.Path, writable: bool) -> None:
    if source.is_dir():
        target.mkdir(parents=True, exist_ok=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    run("mount", "--bind", source, target)
    if not writable:
        run("mount", "-o", "remount,bind,ro", target)


def make_root(spec: dict, root: pathlib.Path) -> None:
    run("mount", "-t", "tmpfs", "tmpfs", root)
    for name in SYSTEM:
        path = pathlib.Path("/", name)
        if path.is_symlink():
            (root / name).symlink_to(path.readlink())
        elif path.exists():
            bind(path, root / name, writable=False)
    for name in DEVICES:
        bind(pathlib.Path("/dev", name), root / "dev" / name, writable=True)
    (root / "etc").mkdir()
    (root / "etc/ld.so.cache").write_bytes(pathlib.Path("/etc/ld.so.cache").read_bytes())
    (root / "etc/nsswitch.conf").write_text("hosts: files dns\n")
    names = [f"{address} {name}\n" for name, addresses in spec["hosts"].items() for address in addresses]
    (root / "etc/hosts").write_text("".join(names))
    # A name may lead to several addresses.
    (root / "etc/host.conf").write_text("multi on\n")
    (root / "proc").mkdir()
    run("mount", "-t", "proc", "proc", root / "proc")
    for mount in spec["mounts"]:
        bind(pathlib.Path(mount["source"]), root / mount["target"].lstrip("/"), mount["writable"])
    run("mount", "-o", "remount,ro", root)


def main() -> None:
    spec = json.loads(pathlib.Path(sys.argv[1]).read_text())
    sys.stdin.readline()
    socket.sethostname(spec["name"])
    configure(spec["interface"], spec["address"])
    root = pathlib.Path(spec["root"])
    make_root(spec, root)
    os.chroot(root)
    os.chdir("/shoal")
    os.setgroups([])
    os.setgid(spec["user"])
    os.setuid(spec["user"])
    ctypes.CDLL(None).prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    os.execve(f"/shoal/bin/{spec['program']}", [spec["program"], *spec["arguments"]], spec["environment"])


if __name__ == "__main__":
    main()
