# SPDX-License-Identifier: Apache-2.0
"""Manifests that are broken in one place break the rule that is meant for it, and the rule's line says where."""

import unittest
from collections.abc import Callable

import breaches
from manifests import Object, build, cluster, find, pod_spec


def container(objects: list[Object], kind: str, name: str) -> Object:
    return pod_spec(objects, kind, name)["containers"][0]


def drop(objects: list[Object], kind: str, name: str) -> None:
    objects.remove(find(objects, kind, name))


def replace(texts: list[str], old: str, new: str) -> None:
    texts[:] = [text.replace(old, new) for text in texts]


# What is broken, in which overlay, the rule that finds it, and a part of its line.
Break = Callable[[list[Object]], object]
BREAKS: list[tuple[str, Break, Callable, str]] = [
    (
        "dev",
        lambda o: container(o, "StatefulSet", "actor").update(imagePulPolicy="Never"),
        breaches.schema,
        "imagePulPolicy",
    ),
    (
        "dev",
        lambda o: o.append({"apiVersion": "example.org/v1", "kind": "Shard", "metadata": {"name": "one"}}),
        breaches.schema,
        "no schema of kind Shard",
    ),
    (
        "multi-gpu",
        lambda o: find(o, "JobSet", "learner")["spec"]["network"].update(subdomian="x"),
        breaches.schema,
        "subdomian",
    ),
    (
        "multi-gpu",
        lambda o: find(o, "JobSet", "learner").update(apiVersion="jobset.x-k8s.io/v1"),
        breaches.schema,
        "no schema of kind JobSet",
    ),
    (
        "multi-gpu",
        lambda o: pod_spec(o, "JobSet", "learner").update(restartPolicie="Never"),
        breaches.schema,
        "restartPolicie",
    ),
    (
        "multi-gpu",
        lambda o: find(o, "JobSet", "learner")["spec"]["failurePolicy"]["rules"][0].update(action="Retry"),
        breaches.schema,
        "Retry",
    ),
    (
        "dev",
        lambda o: container(o, "StatefulSet", "replay")["resources"]["limits"].pop("memory"),
        breaches.hardening,
        "no limits of memory",
    ),
    (
        "dev",
        lambda o: container(o, "Job", "observer").pop("securityContext"),
        breaches.hardening,
        "readOnlyRootFilesystem",
    ),
    (
        "single-gpu",
        lambda o: pod_spec(o, "StatefulSet", "learner")["initContainers"][0]["securityContext"]["capabilities"].pop("drop"),
        breaches.hardening,
        "demonstrations: capabilities",
    ),
    (
        "dev",
        lambda o: pod_spec(o, "StatefulSet", "actor")["securityContext"].update(runAsUser=0),
        breaches.hardening,
        "runAsUser",
    ),
    (
        "dev",
        lambda o: container(o, "StatefulSet", "actor").update(image="shoal-actress"),
        breaches.hardening,
        "no image shoal-actress",
    ),
    ("dev", lambda o: drop(o, "ServiceAccount", "shoal"), breaches.hardening, "no ServiceAccount shoal"),
    (
        "dev",
        lambda o: container(o, "StatefulSet", "inference").pop("readinessProbe"),
        breaches.probes,
        "no readinessProbe",
    ),
    (
        "multi-gpu",
        lambda o: container(o, "JobSet", "learner")["livenessProbe"]["grpc"].update(port=5002),
        breaches.probes,
        "5002",
    ),
    (
        "dev",
        lambda o: find(o, "Job", "observer")["spec"].pop("activeDeadlineSeconds"),
        breaches.probes,
        "activeDeadlineSeconds",
    ),
    (
        "dev",
        lambda o: find(o, "Service", "learner")["spec"].update(selector={"app.kubernetes.io/component": "teacher"}),
        breaches.services,
        "Service learner selects no pod",
    ),
    (
        "dev",
        lambda o: find(o, "Service", "replay")["spec"]["ports"][0].update(targetPort="rpc"),
        breaches.services,
        "no port rpc",
    ),
    (
        "dev",
        lambda o: container(o, "StatefulSet", "replay")["ports"][0].update(containerPort=5005),
        breaches.services,
        "leads to 5005",
    ),
    ("dev", lambda o: drop(o, "Service", "actor"), breaches.services, "no Service actor"),
    ("dev", lambda o: cluster(o).update(JOB="cartpoll.toml"), breaches.references, "no key cartpoll.toml"),
    ("dev", lambda o: cluster(o).pop("MINUTES"), breaches.references, "no MINUTES"),
    ("dev", lambda o: drop(o, "PersistentVolumeClaim", "runs"), breaches.references, "no PersistentVolumeClaim runs"),
    (
        "multi-gpu",
        lambda o: pod_spec(o, "JobSet", "learner")["volumes"][0]["configMap"].update(name="jobs"),
        breaches.references,
        "no ConfigMap jobs",
    ),
    (
        "dev",
        lambda o: container(o, "StatefulSet", "actor")["volumeMounts"].pop(0),
        breaches.references,
        "is on no volume",
    ),
    (
        "dev",
        lambda o: container(o, "StatefulSet", "inference")["volumeMounts"].pop(2),
        breaches.references,
        "may write is at /shoal/runs",
    ),
    (
        "dev",
        lambda o: container(o, "StatefulSet", "learner")["volumeMounts"][2].update(readOnly=True),
        breaches.references,
        "may write is at /shoal/runs",
    ),
    (
        "dev",
        lambda o: find(o, "PodDisruptionBudget", "replay")["spec"]["selector"]["matchLabels"].clear()
        or find(o, "PodDisruptionBudget", "replay")["spec"]["selector"]["matchLabels"].update(component="replay"),
        breaches.references,
        "PodDisruptionBudget replay selects no pod",
    ),
    (
        "dev",
        lambda o: container(o, "StatefulSet", "actor")["args"].append(
            '--set=cluster.inference=["inference-0.inference:5000"]'
        ),
        breaches.reread,
        "a change of cluster.inference starts it anew",
    ),
    (
        "multi-gpu",
        lambda o: find(o, "ConfigMap", "inference-servers")["metadata"].update(name="inference-servers-5fk8m2td9c")
        or next(one for one in pod_spec(o, "Job", "observer")["volumes"] if one["name"] == "servers").update(
            configMap={"name": "inference-servers-5fk8m2td9c"}
        ),
        breaches.reread,
        "observer/observer: a change of /etc/shoal/inference/servers renames inference-servers-5fk8m2td9c",
    ),
    (
        "dev",
        lambda o: next(one for one in container(o, "StatefulSet", "actor")["volumeMounts"] if one["name"] == "servers").update(
            subPath="."
        ),
        breaches.reread,
        "actor-0/actor: /etc/shoal/inference/servers is mounted by subPath",
    ),
    (
        "single-gpu",
        lambda o: find(o, "StatefulSet", "actor")["spec"].update(replicas=1),
        breaches.autoscaling,
        "how many replicas",
    ),
    (
        "single-gpu",
        lambda o: find(o, "HorizontalPodAutoscaler", "actor")["spec"]["metrics"][0]["external"]["metric"].update(
            name="shoal_learner_idle"
        ),
        breaches.autoscaling,
        "no metric shoal_learner_idle",
    ),
    (
        "dev",
        lambda o: find(o, "ConfigMap", "inference-servers")["data"].update(servers="inference.inference-0:5000"),
        breaches.addresses,
        "the name of no pod",
    ),
    (
        "multi-gpu",
        lambda o: find(o, "ConfigMap", "inference-servers")["data"].update(servers="inference-0.inference:5000"),
        breaches.addresses,
        "actor-1/actor: it is not told of inference-1",
    ),
    (
        "multi-gpu",
        lambda o: find(o, "StatefulSet", "replay")["spec"].update(replicas=5),
        breaches.addresses,
        "it is not told of replay-4",
    ),
    (
        "dev",
        lambda o: replace(container(o, "StatefulSet", "inference")["args"], "learner:5000", "learner:5001"),
        breaches.addresses,
        "learner-0 has no port 5001",
    ),
    (
        "dev",
        lambda o: drop(o, "NetworkPolicy", "actor"),
        breaches.network,
        "actor-0 may not connect to inference-0:5000",
    ),
    (
        "dev",
        lambda o: drop(o, "NetworkPolicy", "replay"),
        breaches.network,
        "learner-0 may not connect to replay-0:5000",
    ),
    ("dev", lambda o: drop(o, "NetworkPolicy", "default-deny"), breaches.network, "anybody may connect to observer:1"),
    (
        "dev",
        lambda o: find(o, "NetworkPolicy", "names")["spec"]["egress"].append({}),
        breaches.network,
        "may leave its namespace",
    ),
    ("dev", lambda o: drop(o, "NetworkPolicy", "names"), breaches.network, "may not ask for names"),
    ("dev", lambda o: drop(o, "NetworkPolicy", "metrics"), breaches.network, "a Prometheus may not connect to"),
    (
        "multi-gpu",
        lambda o: drop(o, "NetworkPolicy", "ranks"),
        breaches.network,
        "learner-node-0-1 may not connect to learner-node-0-0:29500",
    ),
    (
        "multi-gpu",
        lambda o: find(o, "NetworkPolicy", "ranks")["spec"]["ingress"][0]["ports"].pop(),
        breaches.network,
        "learner-node-0-0 may not connect to learner-node-0-1:60999",
    ),
    (
        "dev",
        lambda o: find(o, "NetworkPolicy", "learner")["spec"]["ingress"].append({}),
        breaches.network,
        "anybody may connect to learner-0",
    ),
    (
        "dev",
        lambda o: find(o, "NetworkPolicy", "replay")["spec"]["ingress"][0]["from"].append({"podSelector": {}})
        or find(o, "NetworkPolicy", "actor")["spec"]["egress"].append({}),
        breaches.network,
        "actor-0 may connect to replay-0:5000 and need not",
    ),
    (
        "dev",
        lambda o: container(o, "StatefulSet", "replay")["args"].append("--set=replay.lisen=x"),
        breaches.programs,
        "replay.lisen",
    ),
    (
        "dev",
        lambda o: pod_spec(o, "StatefulSet", "replay").update(terminationGracePeriodSeconds=1),
        breaches.programs,
        "too short",
    ),
    ("single-gpu", lambda o: cluster(o).update(CAPTURES='["dell-r750"]'), breaches.programs, "does not serve"),
    (
        "single-gpu",
        lambda o: container(o, "StatefulSet", "learner")["resources"]["limits"].pop("nvidia.com/gpu"),
        breaches.programs,
        "1 ranks have 0 GPUs",
    ),
    (
        "multi-gpu",
        lambda o: replace(container(o, "JobSet", "learner")["args"], "--world-size=4", "--world-size=8"),
        breaches.programs,
        "8 ranks have 4 GPUs",
    ),
    (
        "multi-gpu",
        lambda o: find(o, "JobSet", "learner")["spec"]["replicatedJobs"][0]["template"]["spec"].update(completions=3),
        breaches.programs,
        "WORLD_SIZE is 8 for 3 nodes of 4 ranks",
    ),
    (
        "multi-gpu",
        lambda o: find(o, "JobSet", "learner")["spec"]["network"].update(subdomain="learners"),
        breaches.programs,
        "rank 0 is not at",
    ),
    (
        "elastic",
        lambda o: find(o, "Service", "learner")["spec"].pop("clusterIP"),
        breaches.services,
        "StatefulSet learner: its Service has an address",
    ),
    (
        "elastic",
        lambda o: find(o, "StatefulSet", "learner")["spec"].pop("volumeClaimTemplates"),
        breaches.references,
        "there is no volume runs",
    ),
    (
        "elastic",
        lambda o: drop(o, "PersistentVolumeClaim", "runs"),
        breaches.references,
        "observer: there is no PersistentVolumeClaim runs",
    ),
    (
        "elastic",
        lambda o: replace(container(o, "StatefulSet", "learner")["args"], "learner-0.learner", "learner-0.ranks"),
        breaches.addresses,
        "learner-0.ranks.shoal.svc.cluster.local is the name of no pod",
    ),
    (
        "elastic",
        lambda o: drop(o, "NetworkPolicy", "ranks"),
        breaches.network,
        "learner-2 may not connect to learner-0:29500",
    ),
    (
        "elastic",
        lambda o: find(o, "StatefulSet", "learner")["spec"].update(replicas=4),
        breaches.programs,
        "4 nodes are there for at most 3",
    ),
    (
        "elastic",
        lambda o: replace(container(o, "StatefulSet", "learner")["args"], "--nodes=2:3", "--nodes=1:3"),
        breaches.programs,
        "may be cut in two parts of 1",
    ),
    (
        "trainjob",
        lambda o: find(o, "TrainJob", "learner")["spec"].update(trainer={"nodes": 2}),
        breaches.schema,
        "nodes",
    ),
    (
        "trainjob",
        lambda o: find(o, "TrainingRuntime", "learner")["spec"]["template"]["spec"].update(sucessPolicy={}),
        breaches.schema,
        "sucessPolicy",
    ),
    (
        "trainjob",
        lambda o: pod_spec(o, "TrainingRuntime", "learner").update(restartPolicie="Never"),
        breaches.schema,
        "restartPolicie",
    ),
    (
        "trainjob",
        lambda o: find(o, "TrainJob", "learner")["spec"].update(trainer={"numNodes": 3}),
        breaches.programs,
        "WORLD_SIZE is 8 for 3 nodes of 4 ranks",
    ),
    (
        "trainjob",
        lambda o: find(o, "TrainJob", "learner")["spec"]["runtimeRef"].update(name="teacher"),
        breaches.references,
        "no TrainingRuntime teacher",
    ),
    (
        "queued",
        lambda o: find(o, "ClusterQueue", "learners")["spec"].update(cohort="all"),
        breaches.schema,
        "cohort",
    ),
    ("queued", lambda o: drop(o, "LocalQueue", "learners"), breaches.queues, "no LocalQueue learners in shoal"),
    ("queued", lambda o: drop(o, "ClusterQueue", "learners"), breaches.queues, "no ClusterQueue learners"),
    ("queued", lambda o: drop(o, "ResourceFlavor", "gpu-nodes"), breaches.queues, "no ResourceFlavor gpu-nodes"),
    (
        "queued",
        lambda o: find(o, "ClusterQueue", "learners")["spec"].pop("namespaceSelector"),
        breaches.queues,
        "takes nothing of shoal",
    ),
    (
        "queued",
        lambda o: container(o, "JobSet", "learner")["resources"]["limits"].update({"nvidia.com/gpu": 8}),
        breaches.queues,
        "it needs 16 of nvidia.com/gpu, and the quota is 8",
    ),
]


class Broken(unittest.TestCase):
    def test_each_break_is_found(self) -> None:
        for i, (overlay, spoil, rule, line) in enumerate(BREAKS):
            with self.subTest(number=i, line=line):
                objects = build(overlay)
                spoil(objects)
                self.assertIn(line, "\n".join(rule(objects)))


if __name__ == "__main__":
    unittest.main()
