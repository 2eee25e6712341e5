# SPDX-License-Identifier: Apache-2.0
"""The manifests of an overlay, and the pods, names and environments that a cluster would make of them."""

import copy
import functools
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from typing import Any

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "deploy/kubernetes"
OVERLAYS = sorted(path.name for path in (FOLDER / "overlays").iterdir())
DOMAIN = "svc.cluster.local"
COMPLETION_INDEX = "batch.kubernetes.io/job-completion-index"
RESTART_ATTEMPT = "jobset.sigs.k8s.io/restart-attempt"
TRAINER_STEP = "trainer.kubeflow.org/trainjob-ancestor-step"

Object = dict[str, Any]


@functools.cache
def _build(folder: pathlib.Path) -> str:
    """Returns what `kubectl apply -k` would send for a folder."""
    kubectl = pathlib.Path(sys.executable).parent / "kubectl"
    done = subprocess.run([kubectl, "kustomize", folder], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ValueError(f"{folder}: {done.stderr}")
    return done.stdout


def build_with(overlay: str, component: str) -> list[Object]:
    """Returns the objects of an overlay and a component, which an overlay of somebody's own would name."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        shipped = os.path.relpath(FOLDER, folder.resolve())
        text = f"resources: [{shipped}/overlays/{overlay}]\ncomponents: [{shipped}/components/{component}]\n"
        (folder / "kustomization.yaml").write_text(text)
        return build(folder)


def build(overlay: str | pathlib.Path) -> list[Object]:
    """Returns the objects of an overlay, or of a folder with one, which the caller may change."""
    return list(yaml.safe_load_all(_build(FOLDER / "overlays" / overlay)))


def of_kind(objects: list[Object], *kinds: str) -> list[Object]:
    return [one for one in objects if one["kind"] in kinds]


def find(objects: list[Object], kind: str, name: str) -> Object | None:
    return next((one for one in of_kind(objects, kind) if one["metadata"]["name"] == name), None)


def pod_spec(objects: list[Object], kind: str, name: str) -> Object:
    """Returns the specification of the pods of a workload, which the caller may change."""
    spec = find(objects, kind, name)["spec"]
    spec = spec["template"]["spec"] if kind == "TrainingRuntime" else spec
    return (spec["replicatedJobs"][0]["template"]["spec"] if "replicatedJobs" in spec else spec)["template"]["spec"]


def job_sets(objects: list[Object]) -> list[Object]:
    """Returns the JobSets, and those that Kubeflow's Trainer would make of TrainJobs whose runtimes are there."""
    made = of_kind(objects, "JobSet")
    for one in of_kind(objects, "TrainJob"):
        runtime = find(objects, "TrainingRuntime", one["spec"]["runtimeRef"]["name"])
        if runtime is None:
            continue
        spec = copy.deepcopy(runtime["spec"]["template"]["spec"])
        nodes = one["spec"].get("trainer", {}).get("numNodes") or runtime["spec"]["mlPolicy"]["numNodes"]
        for job in spec["replicatedJobs"]:
            if job["template"].get("metadata", {}).get("labels", {}).get(TRAINER_STEP) == "trainer":
                job["template"]["spec"] |= {"parallelism": nodes, "completions": nodes}
        names = {key: one["metadata"][key] for key in ("name", "namespace")}
        made.append({"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": names, "spec": spec})
    return made


def cluster(objects: list[Object]) -> dict[str, str]:
    """Returns the variables of all containers, which the caller may change."""
    return next(one["data"] for one in objects if one["metadata"]["name"].startswith("cluster-"))


@dataclass(frozen=True)
class Pod:
    """One pod as its controller would make it."""

    name: str
    namespace: str
    labels: dict[str, str]
    annotations: dict[str, str]
    spec: Object
    # StatefulSet, Deployment, Job or JobSet.
    owner: Object
    # The headless Service that gives the pod a name of its own, or none.
    subdomain: str

    @property
    def component(self) -> str:
        return self.labels.get("app.kubernetes.io/component", "")

    @property
    def runs_to_completion(self) -> bool:
        return self.owner["kind"] in ("Job", "JobSet")

    @property
    def containers(self) -> list[Object]:
        return self.spec.get("initContainers", []) + self.spec["containers"]

    def names(self) -> list[str]:
        """Returns the names by which pods of the namespace find this one alone."""
        if not self.subdomain:
            return []
        name = f"{self.name}.{self.subdomain}"
        return [name, f"{name}.{self.namespace}.{DOMAIN}"]

    def ports(self) -> dict[str, int]:
        return {
            port["name"]: port["containerPort"]
            for container in self.spec["containers"]
            for port in container.get("ports", [])
        }


def _pod(owner: Object, template: Object, name: str, subdomain: str = "", index: int | None = None) -> Pod:
    metadata = template.get("metadata", {})
    labels = dict(metadata.get("labels", {}))
    annotations = dict(metadata.get("annotations", {}))
    if index is not None:
        labels[COMPLETION_INDEX] = annotations[COMPLETION_INDEX] = str(index)
        labels[RESTART_ATTEMPT] = annotations[RESTART_ATTEMPT] = "0"
    return Pod(
        name, owner["metadata"].get("namespace", "default"), labels, annotations, template["spec"], owner, subdomain
    )


def _claims(workload: Object, pod: str) -> list[Object]:
    """Returns the volumes that a pod of a StatefulSet has of its own, which outlive it."""
    names = [one["metadata"]["name"] for one in workload["spec"].get("volumeClaimTemplates", [])]
    return [{"name": name, "persistentVolumeClaim": {"claimName": f"{name}-{pod}"}} for name in names]


def claims(objects: list[Object]) -> set[str]:
    """Returns the names of all PersistentVolumeClaims, those that StatefulSets make included."""
    named = {one["metadata"]["name"] for one in of_kind(objects, "PersistentVolumeClaim")}
    of_pods = {
        volume["persistentVolumeClaim"]["claimName"]
        for pod in pods(objects)
        if pod.owner["kind"] == "StatefulSet"
        for volume in _claims(pod.owner, pod.name)
    }
    return named | of_pods


def replicas(objects: list[Object], workload: Object) -> int:
    """Returns how many pods a workload begins with. An autoscaler's least number replaces the workload's own."""
    for scaler in of_kind(objects, "HorizontalPodAutoscaler"):
        target = scaler["spec"]["scaleTargetRef"]
        if (target["kind"], target["name"]) == (workload["kind"], workload["metadata"]["name"]):
            return scaler["spec"]["minReplicas"]
    return workload["spec"].get("replicas", 1)


def pods(objects: list[Object]) -> list[Pod]:
    made = []
    for one in objects:
        name, spec = one["metadata"]["name"], one.get("spec", {})
        if one["kind"] == "StatefulSet":
            for i in range(replicas(objects, one)):
                pod = f"{name}-{i}"
                inner = spec["template"]["spec"]
                own = inner | {"volumes": inner["volumes"] + _claims(one, pod)}
                made.append(_pod(one, spec["template"] | {"spec": own}, pod, spec["serviceName"]))
        elif one["kind"] == "Deployment":
            made += [_pod(one, spec["template"], f"{name}-{i}") for i in range(replicas(objects, one))]
        elif one["kind"] == "Job":
            made.append(_pod(one, spec["template"], name))
    for one in job_sets(objects):
        for job in one["spec"]["replicatedJobs"]:
            for replica in range(job.get("replicas", 1)):
                made += [
                    _pod(
                        one,
                        job["template"]["spec"]["template"],
                        f"{one['metadata']['name']}-{job['name']}-{replica}-{i}",
                        one["spec"]["network"]["subdomain"],
                        i,
                    )
                    for i in range(job["template"]["spec"]["completions"])
                ]
    return made


def matches(selector: Object, labels: dict[str, str]) -> bool:
    """Whether a label selector, matchLabels and matchExpressions, selects an object of these labels."""
    for key, value in selector.get("matchLabels", {}).items():
        if labels.get(key) != value:
            return False
    for rule in selector.get("matchExpressions", []):
        if rule["operator"] not in ("In", "NotIn"):
            raise ValueError(f"operator {rule['operator']}")
        if (labels.get(rule["key"]) in rule["values"]) != (rule["operator"] == "In"):
            return False
    return True


def behind(service: Object, made: list[Pod]) -> list[Pod]:
    """Returns the pods that a Service selects."""
    return [pod for pod in made if matches({"matchLabels": service["spec"]["selector"]}, pod.labels)]


def hosts(objects: list[Object]) -> dict[str, list[Pod]]:
    """Returns every name of the cluster's DNS, and the pods that it leads to."""
    made = pods(objects)
    table = {name: [pod] for pod in made for name in pod.names()}
    for service in of_kind(objects, "Service"):
        name = service["metadata"]["name"]
        for text in (name, f"{name}.{service['metadata'].get('namespace', 'default')}.{DOMAIN}"):
            table[text] = behind(service, made)
    return table


def environment(objects: list[Object], pod: Pod, container: Object) -> dict[str, str]:
    """Returns the variables of a container. A field or ConfigMap that is not there is a KeyError that names it."""
    variables = {}
    for source in container.get("envFrom", []):
        name = source["configMapRef"]["name"]
        config = find(objects, "ConfigMap", name)
        if config is None:
            raise KeyError(f"ConfigMap {name}")
        variables |= config["data"]
    for variable in container.get("env", []):
        if "value" in variable:
            variables[variable["name"]] = variable["value"]
            continue
        path = variable["valueFrom"]["fieldRef"]["fieldPath"]
        where, key = re.fullmatch(r"metadata\.(labels|annotations)\['(.+)'\]", path).groups()
        values = pod.labels if where == "labels" else pod.annotations
        if key not in values:
            raise KeyError(path)
        variables[variable["name"]] = values[key]
    return variables


def arguments(objects: list[Object], pod: Pod, container: Object) -> list[str]:
    """Returns a container's arguments with the values of $(NAME). A name without a value is a KeyError."""
    variables = environment(objects, pod, container)
    return [re.sub(r"\$\((\w+)\)", lambda found: variables[found[1]], text) for text in container.get("args", [])]


@functools.cache
def images() -> dict[str, str]:
    """Returns the program of each image that the Dockerfile makes, by the image's name."""
    # The observer's image is called after what it does in a cluster.
    program, name, text = {}, "", (ROOT / "deploy/docker/Dockerfile").read_text()
    for line in text.splitlines():
        if found := re.match(r"FROM \S+ AS (\S+)", line):
            name = "shoal-observer" if found[1] == "shoal" else f"shoal-{found[1]}"
        elif found := re.match(r'ENTRYPOINT \["(\S+)"\]', line):
            program[name] = found[1]
    return program
