# SPDX-License-Identifier: Apache-2.0
"""A node of a cluster as far as one machine has it: each pod is a process with namespaces of its own and an address,
behind one bridge. It runs the commands of manifests as they stand. A file of hosts takes the place of DNS."""

import functools
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator

import network
from manifests import (
    ROOT,
    Object,
    Pod,
    arguments,
    cluster,
    environment,
    find,
    hosts,
    images,
    pod_spec,
    pods,
)

PROGRAMS = pathlib.Path(os.environ.get("SHOAL_PROGRAMS", ROOT / "build/bin")).resolve()
ESTABLISHED = "01"


def without_gpus(objects: list[Object], learner: str, ranks: int) -> None:
    """Makes an overlay of the main job on GPUs one of CartPole on CPUs, with one shard and one inference server. The
    learner is a workload of the kind `learner`, whose pods get `ranks` ranks each."""
    cluster(objects).update(JOB="cartpole.toml")
    find(objects, "ConfigMap", "replay-shards")["data"]["shards"] = "replay-0.replay:5000\n"
    find(objects, "ConfigMap", "inference-servers")["data"]["servers"] = "inference-0.inference:5000\n"
    pod_spec(objects, "StatefulSet", "inference")["containers"][0]["args"].remove("--set=inference.device=cuda")
    spec = pod_spec(objects, learner, "learner")
    del spec["initContainers"]
    container = spec["containers"][0]
    container["args"] = [
        text.replace("--world-size=4", f"--world-size={ranks}")
        for text in container["args"]
        if not text.startswith(("--set=learner.device=", "--set=learner.demonstrations="))
    ]


@functools.cache
def libraries() -> list[pathlib.Path]:
    """Returns the folders of the programs' libraries outside the system's."""
    text = subprocess.run(["ldd", PROGRAMS / "learner"], capture_output=True, text=True, check=True).stdout
    paths = [pathlib.Path(path) for path in re.findall(r"=> (/\S+)", text)]
    return sorted({path.resolve().parent for path in paths if path.parts[1] not in ("lib", "lib64", "usr")})


class Process:
    """A pod that runs."""

    def __init__(self, pod: Pod, address: str, child: subprocess.Popen, log: pathlib.Path):
        self.pod = pod
        self.address = address
        self.child = child
        self.log = log

    def output(self) -> str:
        return self.log.read_text(errors="replace")

    def stop(self) -> int | None:
        """Ends the pod as Kubernetes does, and returns its exit code, or None when it had to be killed."""
        self._send(signal.SIGTERM)
        try:
            return self.child.wait(self.pod.spec["terminationGracePeriodSeconds"])
        except subprocess.TimeoutExpired:
            self.kill()
            return None

    def kill(self) -> None:
        """Ends the pod at once. None of its processes is left afterwards, so its folders can be removed."""
        # `unshare` waits for the first process of the pod, with which the kernel ends all others.
        if self._send(signal.SIGKILL) == 0:
            self.child.kill()
        self.child.wait()

    def _send(self, number: int) -> int:
        """Sends a signal to the first process of the pod, and returns to how many it was sent: 0 or 1."""
        try:
            children = pathlib.Path(f"/proc/{self.child.pid}/task/{self.child.pid}/children").read_text().split()
            for child in children:
                os.kill(int(child), number)
        except OSError:
            return 0
        return len(children)

    def ready(self, kind: str) -> bool:
        """Whether a probe of the manifest succeeds, asked from the node."""
        probe = self.pod.spec["containers"][0][kind]
        handler = probe.get("grpc") or probe["httpGet"]
        port = self.pod.ports().get(handler["port"], handler["port"])
        timeout = probe.get("timeoutSeconds", 1)
        if "grpc" in probe:
            asked = [PROGRAMS / "shoal", "health", f"{self.address}:{port}", "--timeout", str(timeout)]
            return subprocess.run(asked, capture_output=True, check=False).returncode == 0
        try:
            with urllib.request.urlopen(f"http://{self.address}:{port}{handler['path']}", timeout=timeout) as answer:
                return answer.status < 400
        except OSError:
            return False

    def connections(self) -> Iterator[tuple[str, int]]:
        """Returns the address and port at the other end of each connection of the pod's processes."""
        for table in ("tcp", "tcp6"):
            try:
                lines = pathlib.Path(f"/proc/{self.child.pid}/net/{table}").read_text().splitlines()[1:]
            except OSError:
                continue
            for line in lines:
                remote, state = line.split()[2:4]
                if state != ESTABLISHED:
                    continue
                host, port = remote.split(":")
                # The last 32 bits are the IPv4 address, in the order of this machine.
                yield ".".join(str(byte) for byte in bytes.fromhex(host[-8:])[::-1]), int(port, 16)


class Node:
    """Runs the pods of an overlay in `folder`. Everything ends with it. `trees` are folders that images have besides,
    and where, and `variables` what they set."""

    def __init__(
        self,
        objects: list[Object],
        folder: pathlib.Path,
        trees: list[tuple[pathlib.Path, str]] | None = None,
        variables: dict[str, str] | None = None,
    ):
        self.objects = objects
        self.trees = trees or []
        self.variables = variables or {}
        self.folder = folder
        # The pods' users must reach it.
        folder.chmod(0o755)
        self.processes: list[Process] = []
        made = pods(objects)
        self.address = {pod.name: network.address_of(i) for i, pod in enumerate(made)}
        self.hosts = {name: [self.address[pod.name] for pod in found] for name, found in hosts(objects).items()}
        network.make_bridge()

    def close(self) -> None:
        for process in self.processes:
            process.kill()

    def start(self, pod: Pod) -> Process:
        """Starts a pod, or a new one in the place of one that has ended."""
        if "initContainers" in pod.spec or len(pod.spec["containers"]) != 1:
            raise ValueError(f"{pod.name}: only pods of one container are run here")
        container = pod.spec["containers"][0]
        user = pod.spec["securityContext"]["runAsUser"]
        number = len(self.processes)
        own = self.folder / f"{pod.name}.{number}"
        root = own / "root"
        root.mkdir(parents=True)
        spec = {
            "name": pod.name,
            "address": self.address[pod.name],
            "interface": f"pod{number}",
            "hosts": {"localhost": ["127.0.0.1"], pod.name: [self.address[pod.name]]} | self.hosts,
            "root": str(root),
            "mounts": self._image() + [self._volume(pod, mount, own) for mount in container["volumeMounts"]],
            "user": user,
            "program": images()[container["image"]],
            "arguments": arguments(self.objects, pod, container),
            # A container runtime sets HOSTNAME, and the image PATH. Programs that were not installed look for libraries
            # where they were built.
            "environment": {
                "HOSTNAME": pod.name,
                "PATH": "/shoal/bin:/usr/bin:/bin",
                "LD_LIBRARY_PATH": ":".join(target for _, target in self._libraries()),
            }
            | self.variables
            | environment(self.objects, pod, container),
        }
        (own / "spec.json").write_text(json.dumps(spec))
        log = own / "log"
        with log.open("wb") as output:
            child = subprocess.Popen(
                [
                    "unshare",
                    "--net",
                    "--mount",
                    "--pid",
                    "--uts",
                    "--propagation",
                    "private",
                    "--fork",
                    "--kill-child",
                    sys.executable,
                    pathlib.Path(__file__).parent / "container.py",
                    own / "spec.json",
                ],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        process = Process(pod, spec["address"], child, log)
        self.processes.append(process)
        network.connect(number, child.pid)
        child.stdin.write(b"\n")
        child.stdin.close()
        return process

    def await_probe(self, process: Process, kind: str, seconds: float) -> None:
        """Returns once a probe of a pod succeeds. Raises with all logs when it does not, or the pod has ended."""

        def settled() -> bool:
            return process.child.poll() is not None or process.ready(kind)

        if not network.eventually(settled, seconds) or process.child.returncode is not None:
            raise AssertionError(f"{kind} of {process.pod.name} does not succeed\n{self.logs()}")

    def logs(self) -> str:
        return "\n".join(f"== {one.pod.name}\n{one.output()[-1500:]}" for one in self.processes)

    def connections(self) -> set[tuple[str, str, int]]:
        """Returns who is connected to which port of whom."""
        name = {address: pod for pod, address in self.address.items()}
        listening = {process.pod.name: set(process.pod.ports().values()) for process in self.processes}
        return {
            (process.pod.name, name[address], port)
            for process in self.processes
            for address, port in process.connections()
            if address in name and port in listening.get(name[address], set())
        }

    @staticmethod
    def _libraries() -> list[tuple[pathlib.Path, str]]:
        return [(path, f"/shoal/lib/{i}") for i, path in enumerate(libraries())]

    def _image(self) -> list[Object]:
        trees = [(PROGRAMS, "/shoal/bin"), (ROOT / "data", "/shoal/data"), *self._libraries(), *self.trees]
        return [{"source": str(source), "target": target, "writable": False} for source, target in trees]

    def _volume(self, pod: Pod, mount: Object, own: pathlib.Path) -> Object:
        volume = next(one for one in pod.spec["volumes"] if one["name"] == mount["name"])
        claim = volume.get("persistentVolumeClaim")
        source = self.claim(claim["claimName"]) if claim else own / mount["name"]
        source.mkdir(parents=True, exist_ok=True)
        if "configMap" in volume:
            self._write(volume["configMap"]["name"], source)
        os.chown(source, -1, pod.spec["securityContext"]["fsGroup"])
        source.chmod(0o2775)
        return {"source": str(source), "target": mount["mountPath"], "writable": not mount.get("readOnly", False)}

    def _write(self, config_map: str, folder: pathlib.Path) -> None:
        for key, value in find(self.objects, "ConfigMap", config_map)["data"].items():
            # As in a cluster, a reader sees the old file or the new one.
            (folder / f"..{key}").write_text(value)
            (folder / f"..{key}").rename(folder / key)

    def change(self, config_map: str, **data: str) -> None:
        """Changes keys of a ConfigMap, also where pods that run have mounted it."""
        find(self.objects, "ConfigMap", config_map)["data"].update(data)
        for process in self.processes:
            for volume in process.pod.spec["volumes"]:
                if volume.get("configMap", {}).get("name") == config_map:
                    self._write(config_map, process.log.parent / volume["name"])

    def claim(self, name: str) -> pathlib.Path:
        """Returns the folder that is the volume of a claim."""
        return self.folder / "claims" / name
