# SPDX-License-Identifier: Apache-2.0
"""What NetworkPolicies allow, by the rules of networking.k8s.io/v1: a pod that a policy selects may do only what some
policy allows, and both ends must allow a connection."""

from manifests import Object, Pod, matches, of_kind

NAMESPACE_LABEL = "kubernetes.io/metadata.name"


def _selects(peer: Object, namespace: str, labels: dict[str, str], own_namespace: str) -> bool:
    if "ipBlock" in peer:
        raise ValueError("a policy with an ipBlock is not understood here")
    if "namespaceSelector" in peer:
        if not matches(peer["namespaceSelector"], {NAMESPACE_LABEL: namespace}):
            return False
    elif namespace != own_namespace:
        return False
    return matches(peer.get("podSelector", {}), labels)


def _has(ports: Object, port: int, protocol: str) -> bool:
    first = ports["port"]
    return first <= port <= ports.get("endPort", first) and ports.get("protocol", "TCP") == protocol


def _allows(
    objects: list[Object], pod: Pod, direction: str, namespace: str, labels: dict[str, str], port: int, protocol: str
) -> bool:
    rules, peers = {"Ingress": ("ingress", "from"), "Egress": ("egress", "to")}[direction]
    selecting = [
        policy
        for policy in of_kind(objects, "NetworkPolicy")
        if policy["metadata"].get("namespace", "default") == pod.namespace
        and direction in policy["spec"]["policyTypes"]
        and matches(policy["spec"]["podSelector"], pod.labels)
    ]
    if not selecting:
        return True
    for policy in selecting:
        for rule in policy["spec"].get(rules, []):
            ports = rule.get("ports", [])
            if ports and not any(_has(one, port, protocol) for one in ports):
                continue
            others = rule.get(peers, [])
            if not others or any(_selects(peer, namespace, labels, pod.namespace) for peer in others):
                return True
    return False


def may_connect(objects: list[Object], source: Pod, target: Pod, port: int) -> bool:
    return _allows(objects, source, "Egress", target.namespace, target.labels, port, "TCP") and _allows(
        objects, target, "Ingress", source.namespace, source.labels, port, "TCP"
    )


def may_send(
    objects: list[Object], source: Pod, namespace: str, labels: dict[str, str], port: int, protocol: str = "TCP"
) -> bool:
    """Whether a pod may send to a pod of another namespace, of whose own policies nothing is known."""
    return _allows(objects, source, "Egress", namespace, labels, port, protocol)


def may_receive(objects: list[Object], target: Pod, namespace: str, labels: dict[str, str], port: int) -> bool:
    return _allows(objects, target, "Ingress", namespace, labels, port, "TCP")
