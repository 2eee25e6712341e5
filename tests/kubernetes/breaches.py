# SPDX-License-Identifier: Apache-2.0
"""Rules that the manifests of an overlay keep. Each function returns one line for each breach of its rule."""

import functools
import os
import pathlib
import re
import subprocess
import tempfile
import tomllib
from collections.abc import Iterator
from typing import Any

import kubernetes_validate
import yaml
from manifests import (
    FOLDER,
    ROOT,
    Object,
    Pod,
    arguments,
    behind,
    claims,
    environment,
    find,
    hosts,
    images,
    matches,
    of_kind,
    pods,
    replicas,
)
from network_policies import may_connect, may_receive, may_send

PROGRAMS = pathlib.Path(os.environ.get("SHOAL_PROGRAMS", ROOT / "build/bin")).resolve()
# The groups of custom resources, by kind. Their schemas are in schemas/.
GROUPS = {
    "JobSet": "jobset.x-k8s.io",
    "TrainJob": "trainer.kubeflow.org",
    "TrainingRuntime": "trainer.kubeflow.org",
    "ResourceFlavor": "kueue.x-k8s.io",
    "ClusterQueue": "kueue.x-k8s.io",
    "LocalQueue": "kueue.x-k8s.io",
}
QUEUE_NAME = "kueue.x-k8s.io/queue-name"
CHECK_JSONSCHEMA = pathlib.Path(os.sys.executable).parent / "check-jsonschema"
ADDRESS = re.compile(r"(?<![\w.-])([a-z][a-z0-9-]*(?:\.[a-z0-9-]+)*):([0-9]{2,5})(?![\w.])")
VERSION = "1.37"
# Where a run's folder is in the images.
RUNS = "/shoal/runs"
# Arguments that are the launcher's of ranks.
LAUNCHER = ("--world-size=", "--nodes=", "--rendezvous=")
# The argument of a file that names processes, and the end of a name that follows from a ConfigMap's content.
LIST = re.compile(r"--set=cluster\.(replay|inference)_file=(/\S+)")
HASHED = re.compile(r"-[bcdfghkmt2456789]{10}$")
# A port that no manifest names.
UNDECLARED_PORT = 1
# Ports of this range are the kernel's choice, as those at which ranks wait for their neighbours in the ring.
CHOSEN_PORTS = (32768, 60999)


def _containers(made: list[Pod]) -> Iterator[tuple[Pod, Object, str]]:
    for pod in made:
        for container in pod.containers:
            yield pod, container, f"{pod.name}/{container['name']}"


def _validate(one: Object, where: str) -> list[str]:
    try:
        kubernetes_validate.validate(one, VERSION, strict=True)
    except kubernetes_validate.SchemaNotFoundError:
        return [f"{where}: there is no schema of kind {one['kind']} of {one['apiVersion']}"]
    except kubernetes_validate.ValidationError as error:
        return [f"{where}: {'.'.join(map(str, error.path))}: {error.message}"]
    return []


def _schema_file(one: Object) -> pathlib.Path | None:
    group, _, version = one["apiVersion"].partition("/")
    file = pathlib.Path(__file__).parent / f"schemas/{one['kind'].lower()}_{version}.schema.json"
    return file if group == GROUPS.get(one["kind"]) and file.exists() else None


def schema(objects: list[Object]) -> list[str]:
    """Every object fits the schema of its kind, with no unknown field, and every kind has a schema."""
    found = []
    for one in objects:
        where = f"{one['kind']} {one['metadata']['name']}"
        file = _schema_file(one)
        if file is None:
            found += _validate(one, where)
            continue
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as text:
            yaml.safe_dump(one, text)
            text.flush()
            done = subprocess.run(
                [CHECK_JSONSCHEMA, "--schemafile", file, text.name], capture_output=True, text=True, check=False
            )
        if done.returncode != 0:
            found.append(f"{where}: {done.stdout}{done.stderr}")
        # A runtime holds a JobSet, and what a set is made of are Jobs, of which Kubernetes' own schema tells more.
        if one["kind"] == "TrainingRuntime":
            inner = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": "learner"}}
            found += [f"{where}: {line}" for line in schema([inner | {"spec": one["spec"]["template"]["spec"]}])]
        for job in one["spec"].get("replicatedJobs", []):
            inner = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": job["name"]}} | job["template"]
            found += _validate(inner, f"{where}, job {job['name']}")
    return found


def hardening(objects: list[Object]) -> list[str]:
    """Pods have no rights that they do not need, and each of their containers has limits."""
    found = []
    for pod, container, where in _containers(pods(objects)):
        of_pod, own = pod.spec.get("securityContext", {}), container.get("securityContext", {})
        wanted = [
            ("runAsNonRoot", of_pod.get("runAsNonRoot"), True),
            ("seccompProfile", of_pod.get("seccompProfile"), {"type": "RuntimeDefault"}),
            ("allowPrivilegeEscalation", own.get("allowPrivilegeEscalation"), False),
            ("readOnlyRootFilesystem", own.get("readOnlyRootFilesystem"), True),
            ("capabilities", own.get("capabilities"), {"drop": ["ALL"]}),
            ("automountServiceAccountToken", pod.spec.get("automountServiceAccountToken"), False),
        ]
        found += [f"{where}: {name} is {value}, not {right}" for name, value, right in wanted if value != right]
        if of_pod.get("runAsUser") != _user_of_images():
            found.append(f"{where}: runAsUser is not the images' {_user_of_images()}")
        for kind in ("requests", "limits"):
            given = container.get("resources", {}).get(kind, {})
            found += [f"{where}: no {kind} of {name}" for name in ("cpu", "memory") if name not in given]
        if container["image"] not in images():
            found.append(f"{where}: deploy/docker/Dockerfile makes no image {container['image']}")
        if find(objects, "ServiceAccount", pod.spec.get("serviceAccountName", "")) is None:
            found.append(f"{where}: there is no ServiceAccount {pod.spec.get('serviceAccountName')}")
    return found


def _user_of_images() -> int:
    return int(re.search(r"useradd --uid (\d+)", (ROOT / "deploy/docker/Dockerfile").read_text())[1])


def probes(objects: list[Object]) -> list[str]:
    """Containers that serve have the three probes, on ports of theirs; a Job that ends by itself has a deadline."""
    found = []
    for pod in pods(objects):
        names = pod.ports()
        for container in pod.spec["containers"]:
            where = f"{pod.name}/{container['name']}"
            if pod.owner["kind"] == "Job":
                if "activeDeadlineSeconds" not in pod.owner["spec"]:
                    found.append(f"{where}: a Job without activeDeadlineSeconds")
                continue
            for kind in ("startupProbe", "readinessProbe", "livenessProbe"):
                probe = container.get(kind)
                if probe is None:
                    found.append(f"{where}: no {kind}")
                    continue
                handler = probe.get("grpc") or probe.get("httpGet")
                if handler is None:
                    found.append(f"{where}: {kind} asks neither over gRPC nor over HTTP")
                elif handler["port"] not in names and handler["port"] not in names.values():
                    found.append(f"{where}: {kind} asks port {handler['port']}, which is not there")
        if "terminationGracePeriodSeconds" not in pod.spec:
            found.append(f"{pod.name}: no terminationGracePeriodSeconds")
    return found


def services(objects: list[Object]) -> list[str]:
    """A Service selects pods, and each of its ports is one of theirs. A StatefulSet's Service gives names alone."""
    found, made = [], pods(objects)
    for service in of_kind(objects, "Service"):
        where = f"Service {service['metadata']['name']}"
        selected = behind(service, made)
        if not selected:
            found.append(f"{where} selects no pod")
        for port in service["spec"]["ports"]:
            for pod in selected:
                target = port.get("targetPort", port["port"])
                number = pod.ports().get(target) if isinstance(target, str) else target
                if number not in pod.ports().values():
                    found.append(f"{where}: {pod.name} has no port {target}")
                elif number != port["port"]:
                    found.append(f"{where}: port {port['port']} leads to {number}, so names and policies disagree")
    for one in of_kind(objects, "StatefulSet"):
        service = find(objects, "Service", one["spec"]["serviceName"])
        if service is None:
            found.append(f"StatefulSet {one['metadata']['name']}: there is no Service {one['spec']['serviceName']}")
        elif replicas(objects, one) > 1 and service["spec"].get("clusterIP") != "None":
            found.append(f"StatefulSet {one['metadata']['name']}: its Service has an address, so its pods have no names")
    return found


def references(objects: list[Object]) -> list[str]:
    """What pods name is there: ConfigMaps, their keys, claims, volumes, variables. Selectors select something."""
    found, made = [], pods(objects)
    for pod in made:
        volumes = {volume["name"]: volume for volume in pod.spec.get("volumes", [])}
        for name, volume in volumes.items():
            config = volume.get("configMap", {}).get("name")
            claim = volume.get("persistentVolumeClaim", {}).get("claimName")
            if config and find(objects, "ConfigMap", config) is None:
                found.append(f"{pod.name}: there is no ConfigMap {config}")
            if claim and claim not in claims(objects):
                found.append(f"{pod.name}: there is no PersistentVolumeClaim {claim}")
            if not any(mount["name"] == name for one in pod.containers for mount in one.get("volumeMounts", [])):
                found.append(f"{pod.name}: nothing mounts volume {name}")
    for pod, container, where in _containers(made):
        mounts = container.get("volumeMounts", [])
        volumes = {volume["name"]: volume for volume in pod.spec.get("volumes", [])}
        found += [f"{where}: there is no volume {mount['name']}" for mount in mounts if mount["name"] not in volumes]
        try:
            texts = arguments(objects, pod, container)
        except KeyError as missing:
            found.append(f"{where}: there is no {missing.args[0]}")
            continue
        if any(text == "train" or text.startswith("--set=run.name=") for text in texts):
            if not any(mount["mountPath"] == RUNS and not mount.get("readOnly") for mount in mounts):
                found.append(f"{where}: it has a run, but nothing that it may write is at {RUNS}")
        for path in (path for text in texts for path in re.findall(r"(?:^|=)(/\S+)", text)):
            if _mount(container, path) is None:
                found.append(f"{where}: {path} is on no volume")
                continue
            name, key = _config_file(pod, container, path)
            if name and key not in (find(objects, "ConfigMap", name) or {"data": {}})["data"]:
                found.append(f"{where}: ConfigMap {name} has no key {key}")
    for job in of_kind(objects, "TrainJob"):
        runtime = job["spec"]["runtimeRef"]["name"]
        if find(objects, "TrainingRuntime", runtime) is None:
            found.append(f"TrainJob {job['metadata']['name']}: there is no TrainingRuntime {runtime}")
    for budget in of_kind(objects, "PodDisruptionBudget"):
        if not any(matches(budget["spec"]["selector"], pod.labels) for pod in made):
            found.append(f"PodDisruptionBudget {budget['metadata']['name']} selects no pod")
    return found


def _mount(container: Object, path: str) -> Object | None:
    """Returns where a container finds a path, or nothing."""
    return next((one for one in container.get("volumeMounts", []) if path.startswith(one["mountPath"] + "/")), None)


def _config_file(pod: Pod, container: Object, path: str) -> tuple[str, str]:
    """Returns the ConfigMap and the key that a path is of, or two empty names."""
    mount = _mount(container, path)
    volume = next((one for one in pod.spec.get("volumes", []) if mount and one["name"] == mount["name"]), {})
    name = volume.get("configMap", {}).get("name", "")
    return (name, path.removeprefix(mount["mountPath"] + "/")) if name else ("", "")


def _lists(objects: list[Object], pod: Pod, container: Object) -> Iterator[tuple[str, str, str]]:
    """Returns for each file that names processes of a kind the kind, such as replay, the path, and what it holds."""
    for text in arguments(objects, pod, container):
        if named := LIST.match(text):
            name, key = _config_file(pod, container, named[2])
            yield named[1], named[2], (find(objects, "ConfigMap", name) or {"data": {}})["data"].get(key, "")


def reread(objects: list[Object]) -> list[str]:
    """A file that processes read again while they run changes without a restart: its ConfigMap's name has no hash, and
    it is mounted as a whole. Who connects to replay or inference gets the addresses by such a file."""
    found = []
    for pod, container, where in _containers(pods(objects)):
        for text in arguments(objects, pod, container):
            if fixed := re.match(r"--set=cluster\.(replay|inference)=", text):
                found.append(f"{where}: a change of cluster.{fixed[1]} starts it anew")
        for _, path, _ in _lists(objects, pod, container):
            name, _ = _config_file(pod, container, path)
            if HASHED.search(name):
                found.append(f"{where}: a change of {path} renames {name} and starts it anew")
            if "subPath" in (_mount(container, path) or {}):
                found.append(f"{where}: {path} is mounted by subPath, so it never changes")
    return found


def _number(quantity: str) -> float:
    """Returns what a quantity of Kubernetes is, such as 64Gi or 500m."""
    digits, suffix = re.fullmatch(r"([0-9.]+)([a-zA-Z]*)", quantity).groups()
    sizes = {"": 1, "m": 1e-3} | {unit: 1000 ** (i + 1) for i, unit in enumerate("kMGT")}
    return float(digits) * (sizes | {f"{unit}i": 1024 ** (i + 1) for i, unit in enumerate("KMGT")})[suffix]


def _requests(pod: Pod) -> dict[str, float]:
    """Returns what a pod needs: the sum of its containers, or what one that runs before them needs if that is more."""
    needed: dict[str, float] = {}
    for container in pod.spec["containers"]:
        for name, amount in _requests_of(container).items():
            needed[name] = needed.get(name, 0) + amount
    for container in pod.spec.get("initContainers", []):
        needed = {name: max(amount, _requests_of(container).get(name, 0)) for name, amount in needed.items()}
    return needed


def _requests_of(container: Object) -> dict[str, float]:
    given = container["resources"]["limits"] | container["resources"].get("requests", {})
    return {name: _number(str(amount)) for name, amount in given.items()}


def _quota(objects: list[Object], queue: Object) -> tuple[dict[str, float], list[str]]:
    """Returns the quota of a ClusterQueue over all flavors, by resource, and the flavors that are not there."""
    quota: dict[str, float] = {}
    missing = []
    for group in queue["spec"]["resourceGroups"]:
        for flavor in group["flavors"]:
            if find(objects, "ResourceFlavor", flavor["name"]) is None:
                missing.append(flavor["name"])
            for one in flavor["resources"]:
                quota[one["name"]] = quota.get(one["name"], 0) + _number(one["nominalQuota"])
    return quota, missing


def queues(objects: list[Object]) -> list[str]:
    """What waits in a queue of Kueue's finds it there, may wait in it, and fits the quota with all of its pods."""
    found = []
    for one in objects:
        name = one["metadata"].get("labels", {}).get(QUEUE_NAME)
        if name is None:
            continue
        where, namespace = f"{one['kind']} {one['metadata']['name']}", one["metadata"]["namespace"]
        local = find(objects, "LocalQueue", name)
        if local is None or local["metadata"]["namespace"] != namespace:
            found.append(f"{where}: there is no LocalQueue {name} in {namespace}")
            continue
        queue = find(objects, "ClusterQueue", local["spec"]["clusterQueue"])
        if queue is None:
            found.append(f"LocalQueue {name}: there is no ClusterQueue {local['spec']['clusterQueue']}")
            continue
        labels = {"kubernetes.io/metadata.name": namespace}
        selector = queue["spec"].get("namespaceSelector")
        if selector is None or not matches(selector, labels):
            found.append(f"ClusterQueue {queue['metadata']['name']} takes nothing of {namespace}")
        quota, missing = _quota(objects, queue)
        found += [f"ClusterQueue {queue['metadata']['name']}: there is no ResourceFlavor {flavor}" for flavor in missing]
        needed: dict[str, float] = {}
        for pod in pods(objects):
            if pod.owner["kind"] == "JobSet" and pod.owner["metadata"]["name"] == one["metadata"]["name"]:
                for resource, amount in _requests(pod).items():
                    needed[resource] = needed.get(resource, 0) + amount
        for resource, amount in needed.items():
            if amount > quota.get(resource, 0):
                found.append(f"{where}: it needs {amount:g} of {resource}, and the quota is {quota.get(resource, 0):g}")
    return found


def autoscaling(objects: list[Object]) -> list[str]:
    """An autoscaler has a target, which says no number of its own, and a metric that the adapter's values make."""
    found = []
    adapter = yaml.safe_load((FOLDER / "components/autoscaling/prometheus-adapter-values.yaml").read_text())
    known = [rule["name"]["as"] for rule in adapter["rules"]["external"]]
    for scaler in of_kind(objects, "HorizontalPodAutoscaler"):
        where = f"HorizontalPodAutoscaler {scaler['metadata']['name']}"
        reference = scaler["spec"]["scaleTargetRef"]
        target = find(objects, reference["kind"], reference["name"])
        if target is None:
            found.append(f"{where}: there is no {reference['kind']} {reference['name']}")
        elif "replicas" in target["spec"]:
            found.append(f"{where}: {reference['name']} says how many replicas it has, too")
        for metric in scaler["spec"]["metrics"]:
            name = metric["external"]["metric"]["name"]
            if name not in known:
                found.append(f"{where}: the adapter makes no metric {name}")
    return found


def told(objects: list[Object]) -> dict[str, set[tuple[str, int]]]:
    """Returns the addresses, name and port, that each pod is told to connect to, by the pod's name."""
    addresses: dict[str, set[tuple[str, int]]] = {}
    for pod, container, _ in _containers(pods(objects)):
        texts = arguments(objects, pod, container)
        variables = environment(objects, pod, container)
        if "MASTER_ADDR" in variables:
            texts.append(f"{variables['MASTER_ADDR']}:{variables['MASTER_PORT']}")
        # A shard reads the list of shards, too, but only to count them.
        texts += [listed for kind, _, listed in _lists(objects, pod, container) if kind != pod.component]
        found = {(host, int(port)) for text in texts for host, port in ADDRESS.findall(text)}
        addresses.setdefault(pod.name, set()).update(found)
    return addresses


def addresses(objects: list[Object]) -> list[str]:
    """Every address that a process is told leads to a port of a pod, and lists of addresses name every pod."""
    found, table, made = [], hosts(objects), pods(objects)
    for name, wanted in told(objects).items():
        for host, port in sorted(wanted):
            targets = table.get(host, [])
            if not targets:
                found.append(f"{name}: {host} is the name of no pod and no Service with pods")
            found += [f"{name}: {pod.name} has no port {port}" for pod in targets if port not in pod.ports().values()]
    for reader, container, where in _containers(made):
        for kind, _, listed in _lists(objects, reader, container):
            names = {line.split(":")[0] for line in listed.split()}
            found += [
                f"{where}: it is not told of {pod.name}"
                for pod in made
                if pod.component == kind and names.isdisjoint(pod.names())
            ]
    return found


def network(objects: list[Object]) -> list[str]:
    """Policies allow the connections that processes are told to make, names and metrics, and nothing else. They go by
    components, so what one pod of a component needs all of it may do."""
    found, table, made = [], hosts(objects), pods(objects)
    component = {pod.name: pod.component for pod in made}
    wanted = {
        (name, pod.name, port)
        for name, known in told(objects).items()
        for host, port in known
        for pod in table.get(host, [])
        if pod.name != name
    }
    roles = {(component[source], component[target], port) for source, target, port in wanted}
    for source in made:
        for target in made:
            for port in sorted(set(target.ports().values())):
                allowed = may_connect(objects, source, target, port)
                if (source.name, target.name, port) in wanted and not allowed:
                    found.append(f"{source.name} may not connect to {target.name}:{port}")
                if allowed and (source.component, target.component, port) not in roles:
                    found.append(f"{source.name} may connect to {target.name}:{port} and need not")
            if source.component == target.component == "learner" and source.name != target.name:
                for port in CHOSEN_PORTS:
                    if not may_connect(objects, source, target, port):
                        found.append(f"{source.name} may not connect to {target.name}:{port}")
        for protocol in ("UDP", "TCP"):
            if not may_send(objects, source, "kube-system", {"k8s-app": "kube-dns"}, 53, protocol):
                found.append(f"{source.name} may not ask for names over {protocol}")
        if may_send(objects, source, "default", {}, 443):
            found.append(f"{source.name} may leave its namespace")
        for port in [*source.ports().values(), UNDECLARED_PORT]:
            metrics = port == source.ports().get("metrics")
            if may_receive(objects, source, "monitoring", {}, port) != metrics:
                found.append(f"a Prometheus {'may not' if metrics else 'may'} connect to {source.name}:{port}")
            if may_receive(objects, source, "default", {}, port):
                found.append(f"anybody may connect to {source.name}:{port}")
    return found


@functools.cache
def _print_config(
    program: str, texts: tuple[str, ...], files: tuple[tuple[str, str], ...]
) -> tuple[dict[str, Any], str]:
    """Asks a program for the configuration that it makes of its arguments. `files` are their paths and contents."""
    with tempfile.TemporaryDirectory() as folder:
        for path, text in files:
            file = pathlib.Path(folder + path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
            texts = tuple(one.replace(path, str(file)) for one in texts)
        done = subprocess.run(
            [PROGRAMS / program, *texts, "--print-config"], capture_output=True, text=True, check=False, cwd=ROOT
        )
    return (tomllib.loads(done.stdout), "") if done.returncode == 0 else ({}, done.stderr.strip())


def effective(objects: list[Object], pod: Pod, container: Object) -> tuple[dict[str, Any], str]:
    """Returns the configuration that a container's program makes of its arguments, or what it says against them."""
    files = {}
    for mount in container["volumeMounts"]:
        config = next(one for one in pod.spec["volumes"] if one["name"] == mount["name"]).get("configMap")
        if config is not None:
            data = find(objects, "ConfigMap", config["name"])["data"]
            files |= {f"{mount['mountPath']}/{key}": text for key, text in data.items()}
    # With several ranks or nodes the launcher waits for them, and each prints.
    texts = [text for text in arguments(objects, pod, container) if not text.startswith(LAUNCHER)]
    return _print_config(images()[container["image"]], tuple(texts), tuple(files.items()))


def programs(objects: list[Object]) -> list[str]:
    """Every program understands its arguments, and what several of them are told fits together."""
    found, seen = [], set()
    for pod, container, where in _containers(pods(objects)):
        owner = (pod.owner["kind"], pod.owner["metadata"]["name"], container["name"])
        # The observer has no --print-config.
        if owner in seen or pod.component == "observer":
            continue
        seen.add(owner)
        config, refusal = effective(objects, pod, container)
        if refusal:
            found.append(f"{where}: {refusal}")
            continue
        grace = pod.spec["terminationGracePeriodSeconds"]
        drain = config.get(container["name"], {}).get("drain_ms", 0) / 1000
        if grace < 2 * drain:
            found.append(f"{where}: {grace} s are too short for a drain of {drain} s")
        if container["name"] == "actor" and config["environment"]["kind"] == "redfish":
            served = _captures(objects)
            missing = [name for name in config["environment"]["captures"] if name not in served]
            if missing:
                found.append(f"{where}: the mock server does not serve {missing}")
        found += _ranks(objects, pod, container, where)
    return found


def _captures(objects: list[Object]) -> list[str]:
    for pod, container, _ in _containers(pods(objects)):
        if pod.component == "mockserver":
            return effective(objects, pod, container)[0]["mockserver"]["captures"]
    return []


def _ranks(objects: list[Object], pod: Pod, container: Object, where: str) -> list[str]:
    """A GPU for each rank, and as many ranks in all as the group is told of; rank 0 is where the others look."""
    if container["name"] != "learner":
        return []
    texts, found = arguments(objects, pod, container), []
    ranks = int(_value(texts, "--world-size=") or 1)
    gpus = int(container["resources"]["limits"].get("nvidia.com/gpu", 0))
    on_gpus = "--set=learner.device=cuda" in texts
    if (on_gpus and gpus != ranks) or (not on_gpus and gpus):
        found.append(f"{where}: {ranks} ranks have {gpus} GPUs")
    nodes = [one for one in pods(objects) if one.component == "learner"]
    if bounds := _value(texts, "--nodes="):
        least, most = map(int, bounds.split(":"))
        if most != len(nodes):
            found.append(f"{where}: {len(nodes)} nodes are there for at most {most}")
        if 2 * least <= most:
            found.append(f"{where}: {most} nodes may be cut in two parts of {least}, each of which trains by itself")
        return found
    variables = environment(objects, pod, container)
    if "GROUP_RANK" not in variables:
        return found
    if int(variables["WORLD_SIZE"]) != ranks * len(nodes):
        found.append(f"{where}: WORLD_SIZE is {variables['WORLD_SIZE']} for {len(nodes)} nodes of {ranks} ranks")
    if variables["MASTER_ADDR"] not in nodes[0].names():
        found.append(f"{where}: rank 0 is not at {variables['MASTER_ADDR']}")
    return found


def _value(texts: list[str], flag: str) -> str:
    """Returns what an argument gives a flag, or nothing."""
    return next((text.removeprefix(flag) for text in texts if text.startswith(flag)), "")


RULES = [schema, hardening, probes, services, references, reread, queues, autoscaling, addresses, network, programs]
