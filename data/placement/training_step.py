# SPDX-License-Identifier: Apache-2.0
"""One training step of a network as a graph of operations, derived from the forward operations, and its file.

docs/placement.md describes the format. An operation's arithmetic counts a multiplication and an addition as two. The
backward operation of a convolution, a product or a cell costs twice its forward operation, since it has the gradients of
input and parameters to find, and as much as forward where its input needs none. Any other costs as much backward as
forward.
"""
import json
from math import prod

FLOAT = 4  # bytes


class Step:
    """One training step. Each forward operation that is added gets its backward and update operations by finish()."""

    def __init__(self, name, batch, source):
        self.name, self.batch, self.source = name, batch, source
        self.operations = []
        self.forward = []  # (index, parameters, inputs, shared_with)
        self.trained = set()  # forward operations through which a gradient flows
        self.parameters = 0
        self.multiplications = 0

    def _add(self, name, kind, phase, group, inputs, shape, flops, parameter_bytes, activation_bytes):
        """`inputs` are operations whose whole output is read, or pairs of an operation and the bytes read of it."""
        read = {}
        for i, size in map(self._sized, inputs):
            read[i] = max(read.get(i, 0), size)
        self.operations.append({
            "name": name, "kind": kind, "phase": phase, "group": group,
            "inputs": [i if size == self.operations[i]["activation_bytes"] else [i, size] for i, size in read.items()],
            "shape": list(shape), "flops": int(flops), "parameter_bytes": int(parameter_bytes),
            "activation_bytes": int(activation_bytes)})
        return len(self.operations) - 1

    def _sized(self, read):
        return read if isinstance(read, tuple) else (read, self.operations[read]["activation_bytes"])

    def _weights(self, owners):
        """What an operation reads that uses the parameters of the operations `owners`."""
        return [(owner, self.operations[owner]["parameter_bytes"]) for owner in owners]

    def add(self, name, kind, inputs, shape, flops, parameters=0, group=None, shared_with=(), activation_bytes=None,
            parameter_bytes=None, differentiable=True):
        """Adds a forward operation; `shared_with` are the operations whose parameters it uses besides its own. Bytes are
        those of float32 where they are not given. An operation that is not differentiable, and one without parameters
        before it, has no backward operation."""
        index = self._add(name + "/forward", kind, "forward", group or name, list(inputs) + self._weights(shared_with),
                          shape, flops, FLOAT * parameters if parameter_bytes is None else parameter_bytes,
                          FLOAT * prod(shape) if activation_bytes is None else activation_bytes)
        self.forward.append((index, parameters, list(inputs), list(shared_with)))
        if differentiable and (parameters > 0 or shared_with or any(self._sized(i)[0] in self.trained for i in inputs)):
            self.trained.add(index)
        self.parameters += parameters
        if kind in ("conv", "matmul"):
            self.multiplications += flops // 2
        return index

    def shape(self, index):
        return self.operations[index]["shape"]

    def finish(self):
        """Adds backward operations in reverse order, and an update for each operation with parameters."""
        gradients = {}  # forward operation -> backward operations of its consumers
        parameter_gradients = {}  # operation with parameters -> backward operations that add to its gradient
        for index, parameters, inputs, shared_with in reversed(self.forward):
            if index not in self.trained:
                continue
            operation = self.operations[index]
            computes = operation["kind"] in ("conv", "matmul", "lstm")
            # Convolutions, products and cells read their inputs again, the others their own output.
            saved = inputs if computes or operation["kind"] == "norm" else [index]
            wanted = [(i, size) for i, size in map(self._sized, inputs) if i in self.trained]
            input_bytes = sum(size for _, size in wanted)
            times = 2 if computes and wanted else 1
            backward = self._add(
                operation["name"].removesuffix("/forward") + "/backward", operation["kind"], "backward",
                operation["group"], gradients.get(index, []) + saved + self._weights(shared_with),
                [input_bytes // FLOAT], times * operation["flops"], operation["parameter_bytes"], input_bytes)
            for i, _ in wanted:
                gradients.setdefault(i, []).append(backward)
            for owner in ([index] if parameters > 0 else []) + shared_with:
                parameter_gradients.setdefault(owner, []).append(backward)
        for index, parameters, _, _ in self.forward:
            if index in parameter_gradients:
                operation = self.operations[index]
                # Momentum: one more number for each parameter, and two multiplications with additions.
                size = operation["parameter_bytes"]
                self._add(operation["name"].removesuffix("/forward") + "/update", "update", "update",
                          operation["group"], [(i, size) for i in parameter_gradients[index]], [parameters],
                          4 * parameters, size, 0)
        return self

    def write(self, path):
        groups = list(dict.fromkeys(operation["group"] for operation in self.operations))
        number = {group: i for i, group in enumerate(groups)}
        lines = [json.dumps({**operation, "group": number[operation["group"]]}, separators=(",", ":"))
                 for operation in self.operations]
        text = ('{"format":"shoal-graph-1","name":%s,"batch":%d,"source":%s,\n"groups":%s,\n"operations":[\n%s\n]}\n' %
                (json.dumps(self.name), self.batch, json.dumps(self.source),
                 json.dumps(groups, separators=(",", ":")), ",\n".join(lines)))
        path.write_text(text)
        print(f"{self.name}: {len(lines)} operations, {len(groups)} groups, {self.parameters} parameters, "
              f"{self.multiplications / self.batch / 1e9:.2f} G multiplications an example, {len(text)} bytes")
