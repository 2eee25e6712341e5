# SPDX-License-Identifier: Apache-2.0
"""Random networks and sets of devices for `shoal place`, each a function of its seed and sizes."""

import json
import random

FLOAT = 4


def network(seed, groups):
    """Returns a training step of as many layers, as a file of shoal-graph-1.

    A layer is a group: a forward operation, which reads one or two of the four layers before it, a backward one and an
    update. Layers take 1 to 18 ms at 1 Tflop/s, and send what takes 1 to 10 ms at 10 GB/s. Parameters are of very
    different sizes, 3 GiB together with gradients and moments.
    """
    draw = random.Random(f"network {seed} {groups}")
    inputs = [draw.sample(range(max(0, i - 4), i), min(i, draw.choice((1, 1, 2)))) for i in range(groups)]
    readers = [[j for j in range(groups) if i in inputs[j]] for i in range(groups)]
    sizes = [draw.random() ** 3 for _ in range(groups)]
    operations = []

    def add(group, phase, kind, reads, flops, parameter_bytes, activation_bytes):
        operations.append({
            "name": f"layer{group}/{phase}", "kind": kind, "phase": phase, "group": group, "inputs": reads,
            "shape": [max(1, int(activation_bytes / FLOAT))], "flops": int(flops),
            "parameter_bytes": int(parameter_bytes), "activation_bytes": int(activation_bytes)})

    for i in range(groups):
        seconds, sent = draw.uniform(0.3e-3, 6e-3), draw.uniform(1e-3, 1e-2)
        add(i, "forward", draw.choice(("conv", "matmul")), inputs[i], seconds * 1e12,
            (1 << 30) * sizes[i] / sum(sizes), sent * 1e10)
    backward = {}
    for i in reversed(range(groups)):
        forward = operations[i]
        backward[i] = len(operations)
        add(i, "backward", forward["kind"], [i] + [backward[j] for j in readers[i]], 2 * forward["flops"],
            forward["parameter_bytes"], sum(operations[j]["activation_bytes"] for j in inputs[i]))
    for i in range(groups):
        parameter_bytes = operations[i]["parameter_bytes"]
        add(i, "update", "update", [[backward[i], parameter_bytes]], parameter_bytes, parameter_bytes, 0)
    return json.dumps({"format": "shoal-graph-1", "name": f"network-{seed}",
                       "groups": [f"layer{i}" for i in range(groups)], "operations": operations})


def devices(seed, count):
    """Returns a file of devices of three speeds. In half of such files a device has no room for a whole network."""
    draw = random.Random(f"devices {seed} {count}")
    memory_gib = draw.choice((2.0, 6.0))
    tables = []
    for i in range(count):
        tables.append(f'[[placement.device]]\nname = "device{i}"\nmemory_gib = {memory_gib}\n'
                      f"tflops = {draw.choice((1.0, 1.5, 2.0))}\nmemory_gb_per_s = 200\noverhead_us = 20\n")
    names = json.dumps([f"device{i}" for i in range(count)])
    tables.append(f'[[placement.link]]\nfrom = {names}\nto = {names}\ngb_per_s = 10\nlatency_us = 15\n'
                  'sharing = "sender"\n')
    return "\n".join(tables)
