#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes of a network in ONNX the graph file that `shoal place` reads: one training step, with backward and update.

    deploy/install.sh install_onnx
    .deps/onnx/bin/python data/placement/import_onnx.py model.onnx --batch 32 --output model.json

Shapes are those of ONNX's own inference. A node becomes one operation; what is computed from constants alone, and what
only gives a tensor another shape, does not. An operation without parameters is in the group of what it reads last.
docs/placement.md says what is counted.
"""
import argparse
import pathlib
import sys
from math import inf, prod

from training_step import Step

try:
    import numpy as np
    import onnx
    import onnx.inliner
    import onnx.reference
except ImportError:
    sys.exit("the package onnx is missing; `deploy/install.sh install_onnx` puts it into .deps/onnx, and "
             ".deps/onnx/bin/python runs this script")

# Views of a tensor, which cost nothing.
VIEWS = {"Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze"}
# What only moves elements.
MOVES = {"Cast", "Concat", "DepthToSpace", "Expand", "Gather", "GatherElements", "GatherND", "Pad", "ScatterElements",
         "ScatterND", "Slice", "SpaceToDepth", "Split", "Tile", "Transpose"}
NORMS = {"BatchNormalization", "GroupNormalization", "InstanceNormalization", "LayerNormalization", "LpNormalization", "LRN",
         "MeanVarianceNormalization", "RMSNormalization"}
SOFTMAXES = {"LogSoftmax", "NegativeLogLikelihoodLoss", "Softmax", "SoftmaxCrossEntropyLoss"}
WINDOWS = {"AveragePool", "LpPool", "MaxPool"}
GLOBAL_POOLS = {"GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool"}
# Functions of which an element costs about ten operations.
DEAR = {"Acos", "Asin", "Atan", "Celu", "Cos", "Elu", "Erf", "Exp", "Gelu", "Log", "Mish", "Pow", "Selu", "Sigmoid", "Sin",
        "Softplus", "Sqrt", "Swish", "Tanh"}
GATES = {"GRU": 3, "LSTM": 4, "RNN": 1}

FLOATS = {onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16, onnx.TensorProto.DOUBLE}


# The most elements of a tensor that may be sizes.
MOST_SIZES = 4096


class ModelError(Exception):
    """What is wrong with a model, in a sentence that names the node or the input."""


class Tensor:
    """A value of the model: its shape, bytes, and whether it holds numbers that a gradient can flow through."""

    def __init__(self, shape, element):
        self.shape = list(shape)
        self.real = element in FLOATS
        self.elements = prod(self.shape)
        self.bytes = self.elements * onnx.helper.tensor_dtype_to_np_dtype(element).itemsize


def node_name(node, index):
    return node.name or f"{node.op_type}_{index}"


def attribute(node, name, default):
    for found in node.attribute:
        if found.name == name:
            return onnx.helper.get_attribute_value(found)
    return default


def set_sizes(model, batch, sizes):
    """Gives the inputs' symbolic dimensions the sizes of `sizes`, and `batch` to those of a batch: the ones with "batch" in
    their names, or else the first of an input. Returns the inputs' names. A size that stays unknown is an error that names
    it."""
    initialised = {tensor.name for tensor in model.graph.initializer}
    inputs = [value for value in model.graph.input if value.name not in initialised]
    has_batch, used = False, set()
    for value in inputs:
        if not value.type.HasField("tensor_type") or not value.type.tensor_type.HasField("shape"):
            raise ModelError(f'input "{value.name}" is no tensor with a shape')
        symbolic = [(i, d) for i, d in enumerate(value.type.tensor_type.shape.dim) if d.dim_value < 0 or
                    not d.HasField("dim_value")]
        says_batch = any("batch" in d.dim_param.lower() for _, d in symbolic)
        for i, dimension in symbolic:
            # A dimension without a proper name has one by its place.
            symbol, place = dimension.dim_param, f"{value.name}.{i}"
            symbol = symbol if symbol.strip("?") else place
            is_batch = "batch" in symbol.lower() or (i == 0 and not says_batch)
            has_batch = has_batch or is_batch
            used |= {symbol, place}
            size = sizes.get(place, sizes.get(symbol, batch if is_batch else None))
            if size is None:
                raise ModelError(f'input "{value.name}" has no size in dimension {i}; give '
                                 f'{"--batch N" if is_batch else f"--size {symbol}=N"}')
            dimension.dim_value = size
    if batch is not None and not has_batch:
        raise ModelError("no input has a symbolic batch dimension, so --batch cannot change it; export the model with a "
                         "dynamic batch")
    for symbol in sizes:
        if symbol not in used:
            raise ModelError(f'no input has the dimension "{symbol}"')
    # What an exporter has written about other values is inferred again, with these sizes.
    del model.graph.value_info[:]
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")
    return {value.name for value in inputs}


def infer_shapes(model):
    """Returns the model with the shapes of its values, and what is known of values that only sizes decide. ONNX's inference
    follows few operators through computed sizes, so these are computed, and it goes on from there."""
    known = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in model.graph.initializer if is_small(tensor)}
    while True:
        model = onnx.shape_inference.infer_shapes(model, data_prop=True)
        before = len(known)
        compute_sizes(model, known)
        if len(known) == before:
            return model, set(known)
        given = {tensor.name for tensor in model.graph.initializer}
        computed = [node for node in model.graph.node if all(value in known for value in node.output)]
        for node in computed:
            model.graph.node.remove(node)
            for value in node.output:
                if value and value not in given:
                    model.graph.initializer.append(onnx.numpy_helper.from_array(known[value], value))


def is_small(tensor):
    """Whether a tensor's numbers are there and may be a size, not parameters."""
    elements = prod(tensor.dims)
    has_numbers = tensor.data_location != onnx.TensorProto.EXTERNAL and tensor.ByteSize() > elements
    return has_numbers and (elements == 1 or (tensor.data_type not in FLOATS and elements <= MOST_SIZES))


def elements_made(node, given):
    """How many elements a node makes that may make many of few; 0 for any other. `given` are its inputs."""
    if node.op_type == "Range":
        start, limit, step = (float(value) for value in given)
        return max((limit - start) / step, 0) if step else inf
    if node.op_type == "ConstantOfShape":
        return prod(given[0].tolist())
    if node.op_type == "Expand":
        return given[0].size * prod(given[1].tolist())
    return given[0].size * prod(given[1].tolist()) if node.op_type == "Tile" else 0


def compute_sizes(model, known):
    """Adds to `known` what can be computed from it and from the shapes that are known."""
    opsets = {opset.domain: opset.version for opset in model.opset_import}
    shapes = {value.name: [d.dim_value for d in value.type.tensor_type.shape.dim]
              for value in [*model.graph.input, *model.graph.value_info]
              if value.type.tensor_type.HasField("shape") and
              all(d.HasField("dim_value") for d in value.type.tensor_type.shape.dim)}
    shapes.update({tensor.name: list(tensor.dims) for tensor in model.graph.initializer})
    for node in model.graph.node:
        if node.op_type in ("Shape", "Size") and node.input[0] in shapes:
            shape = shapes[node.input[0]]
            part = shape[attribute(node, "start", 0):attribute(node, "end", len(shape))]
            known[node.output[0]] = np.array(part if node.op_type == "Shape" else prod(shape), dtype=np.int64)
        elif node.op_type == "Constant" and any(a.name != "value" or is_small(a.t) for a in node.attribute):
            known[node.output[0]] = onnx.reference.ReferenceEvaluator(node, opsets=opsets).run(None, {})[0]
        elif node.input and all(not value or value in known for value in node.input) and node.domain in ("", "ai.onnx"):
            try:
                if elements_made(node, [known[value] for value in node.input if value]) > MOST_SIZES:
                    continue
                evaluator = onnx.reference.ReferenceEvaluator(node, opsets=opsets)
                values = evaluator.run(None, {value: known[value] for value in node.input if value})
            except Exception:  # a node that the reference cannot run has no known sizes, and may be none
                continue
            if all(isinstance(value, np.ndarray | np.generic) and value.size <= MOST_SIZES for value in values):
                known.update(zip(node.output, map(np.asarray, values)))


def flops_of(node, inputs, output):
    """The kind of a node, and its arithmetic. `inputs` and `output` are tensors; an input left out is None."""
    kind = node.op_type
    first = inputs[0] if inputs and inputs[0] else output
    if kind in ("Conv", "ConvInteger", "QLinearConv"):
        weights = inputs[3 if kind == "QLinearConv" else 1].shape
        return "conv", 2 * output.elements * prod(weights[1:])
    if kind == "ConvTranspose":
        return "conv", 2 * first.elements * prod(inputs[1].shape[1:])
    if kind == "Gemm":
        return "matmul", 2 * output.elements * first.shape[0 if attribute(node, "transA", 0) else 1]
    if kind in ("MatMul", "MatMulInteger", "QLinearMatMul"):
        return "matmul", 2 * output.elements * first.shape[-1]
    if kind == "Einsum":
        return "matmul", 2 * einsum_elements(attribute(node, "equation", b"").decode(), inputs)
    if kind in GATES:
        # For each position and direction four (three, one) products, and 7.5 operations for a gate's element.
        positions, batch, features = first.shape if not attribute(node, "layout", 0) else (
            first.shape[1], first.shape[0], first.shape[2])
        directions, rows, _ = inputs[1].shape
        width = rows // GATES[kind]
        return "lstm", int(directions * positions * batch * rows * (2 * (features + width) + 7.5))
    if kind in NORMS:
        return "norm", 8 * first.elements
    if kind in SOFTMAXES:
        return "softmax", 5 * first.elements
    if kind in WINDOWS:
        return "pool", output.elements * prod(attribute(node, "kernel_shape", [1]))
    if kind in GLOBAL_POOLS:
        return "pool", first.elements
    if kind in MOVES:
        return "elementwise", 0
    if kind in DEAR:
        return "elementwise", 10 * output.elements
    # Reductions read more than they write.
    return "elementwise", max(output.elements, first.elements)


def einsum_elements(equation, inputs):
    """The multiplications of an Einsum: the sizes of all its letters, multiplied."""
    sizes, common = {}, 1
    for term, tensor in zip(equation.replace(" ", "").split("->")[0].split(","), inputs):
        before, dots, after = term.partition("...")
        broadcast = len(tensor.shape) - len(before) - len(after)
        shape = tensor.shape
        sizes.update(zip(before, shape))
        sizes.update(zip(after, shape[len(before) + broadcast:] if dots else []))
        if dots:
            common = max(common, prod(shape[len(before):len(before) + broadcast]))
    return common * prod(sizes.values())


class Importer:
    """Adds a model's nodes to a Step, one after the other."""

    def __init__(self, model, step):
        self.model, self.step = model, step
        self.tensors = {}  # name -> Tensor
        self.made_by = {}  # name -> (operation, name of the tensor that it made); views have those of what they view
        self.constants = {}  # name -> initialisers that it is computed from
        self.owner = {}  # initialiser that is a parameter -> operation that has it
        self.group_of = []  # operation -> group
        self.read = {value for node in model.graph.node for value in node.input}
        self.read |= {value.name for value in model.graph.output}

    def run(self, inputs, sizes):
        graph = self.model.graph
        for value in [*inputs, *graph.value_info, *graph.output]:
            kind = value.type.tensor_type
            if kind.HasField("shape") and all(d.HasField("dim_value") for d in kind.shape.dim):
                self.tensors[value.name] = Tensor([d.dim_value for d in kind.shape.dim], kind.elem_type)
        for tensor in graph.initializer:
            self.tensors[tensor.name] = Tensor(tensor.dims, tensor.data_type)
            self.constants[tensor.name] = set() if tensor.name in sizes else {tensor.name}
        for sparse in graph.sparse_initializer:
            raise ModelError(f'initialiser "{sparse.values.name}" is sparse, which is not supported')
        for value in inputs:
            tensor = self.tensors[value.name]
            self.made(self.step.add(value.name, "input", [], tensor.shape, 0, activation_bytes=tensor.bytes),
                      value.name, [value.name])
        # Operations may share a name, but files' readers should be able to tell them apart.
        names = {value.name for value in inputs}
        for index, node in enumerate(graph.node):
            name = node_name(node, index)
            while name in names:
                name += "'"
            names.add(name)
            self.add(node, name)
        self.add_loss(graph.output)

    def made(self, operation, group, outputs):
        self.group_of.append(group)
        for output in outputs:
            self.made_by[output] = (operation, output)

    def tensor(self, node, name, value, what):
        if value not in self.tensors:
            raise ModelError(f'node "{name}" ({node.op_type}): the shape of its {what} "{value}" cannot be inferred')
        return self.tensors[value]

    def add(self, node, name):
        inputs = [value for value in node.input if value]
        outputs = [value for value in node.output if value]
        if any(a.type in (onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS) for a in node.attribute):
            raise ModelError(f'node "{name}" ({node.op_type}) contains a graph of its own, which is not supported')
        outputs = [value for value in outputs if value in self.read]
        if not outputs:
            return
        if node.op_type in ("Constant", "Shape", "Size") or all(value in self.constants for value in inputs):
            for value in outputs:
                self.constants[value] = {value} if node.op_type == "Constant" else set() if node.op_type in (
                    "Shape", "Size") else set().union(*map(self.constants.get, inputs))
            return
        if node.op_type in VIEWS and node.input[0] in self.made_by:
            self.tensor(node, name, outputs[0], "output")
            self.made_by[outputs[0]] = self.made_by[node.input[0]]
            return
        made = [self.tensor(node, name, value, "output") for value in outputs]
        # A constant that has no shape only tells others theirs.
        taken = [self.tensor(node, name, value, "input") if value in self.made_by else self.tensors.get(value)
                 for value in node.input]
        kind, flops = self.cost(node, name, taken, made[0])
        own, shared = self.parameters(node)
        reads = self.reads(inputs)
        if kind == "elementwise" and node.op_type == "Gather" and node.input[0] in self.constants and own | shared:
            kind, flops = "lookup", made[0].elements
        starts_group = kind in ("conv", "matmul", "lstm", "lookup") and (own or shared)
        producers = [i for i, _ in reads if self.step.operations[i]["kind"] != "input"]
        group = name if starts_group or not producers else self.group_of[max(producers)]
        operation = self.step.add(
            name, kind, reads, made[0].shape, flops, sum(self.tensors[value].elements for value in own), group,
            shared_with=sorted({self.owner[value] for value in shared}),
            activation_bytes=sum(tensor.bytes for tensor in made),
            parameter_bytes=sum(self.tensors[value].bytes for value in own), differentiable=made[0].real)
        self.owner.update({value: operation for value in own})
        self.made(operation, group, outputs)

    def cost(self, node, name, taken, made):
        try:
            return flops_of(node, taken, made)
        except (AttributeError, IndexError, TypeError, ValueError):
            raise ModelError(f'node "{name}" ({node.op_type}): its inputs are not those of such a node') from None

    def parameters(self, node):
        """The initialisers that a node learns: new ones, and ones that an earlier node has."""
        # A batch normalisation is given its running mean and variance, which no gradient moves.
        learned = node.input[:3] if node.op_type == "BatchNormalization" else node.input
        every = set().union(*(self.constants.get(value, set()) for value in learned))
        every = {value for value in every if value in self.tensors and self.tensors[value].real and
                 self.tensors[value].elements > 1}
        return {value for value in every if value not in self.owner}, {value for value in every if value in self.owner}

    def reads(self, values):
        """Pairs of an operation and the bytes of its outputs that are read, each once."""
        read = {}
        for value in dict.fromkeys(values):
            if value in self.made_by:
                operation, made = self.made_by[value]
                read.setdefault(operation, set()).add(made)
        return [(operation, sum(self.tensors[made].bytes for made in outputs)) for operation, outputs in read.items()]

    def add_loss(self, outputs):
        """A step begins to go backward from a loss, which reads what the model puts out."""
        reads = self.reads([value.name for value in outputs])
        if not reads:
            raise ModelError("no output of the model depends on its inputs")
        elements = sum(self.tensors[value.name].elements for value in outputs if value.name in self.tensors)
        self.step.add("loss", "softmax", reads, [1], 5 * elements, group=self.group_of[max(i for i, _ in reads)])


def import_model(path, batch=None, sizes=None):
    """Returns the Step of the ONNX file at `path`. Raises ModelError."""
    try:
        model = onnx.load(path, load_external_data=False)
        model = onnx.inliner.inline_local_functions(model)
        names = set_sizes(model, batch, sizes or {})
        model, sizes = infer_shapes(model)
    except (ModelError, OSError):
        raise
    except Exception as error:  # protobuf, onnx and its C++ code each have exceptions of their own
        raise ModelError(f"the file is no ONNX model that can be read: {error}") from None
    inputs = [value for value in model.graph.input if value.name in names]
    shape = inputs[0].type.tensor_type.shape.dim if inputs else []
    step = Step(path.stem, batch or (shape[0].dim_value if shape else 1), f"imported from {path.name}")
    Importer(model, step).run(inputs, sizes)
    if not step.trained:
        raise ModelError("the model has no parameters in floating point")
    return step.finish()


def size(text):
    name, _, number = text.partition("=")
    if not name or not number.isdecimal() or int(number) == 0:
        raise argparse.ArgumentTypeError(f"{text} is not NAME=SIZE")
    return name, int(number)


def positive(text):
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text} is no number above 0")
    return int(text)


def main():
    parser = argparse.ArgumentParser(description="Makes of a network in ONNX the graph file that `shoal place` reads.")
    parser.add_argument("model", type=pathlib.Path, help="the ONNX file; weights beside it are not needed")
    parser.add_argument("--output", type=pathlib.Path, help="the graph file to write; by default MODEL with .json")
    parser.add_argument("--batch", type=positive, help="the size of a symbolic batch dimension")
    parser.add_argument("--size", type=size, action="append", default=[], metavar="NAME=N",
                        help="the size of another symbolic dimension, e.g. sequence=128; repeatable")
    flags = parser.parse_args()
    try:
        step = import_model(flags.model, flags.batch, dict(flags.size))
        step.write(flags.output or flags.model.with_suffix(".json"))
    except ModelError as error:
        sys.exit(f"{flags.model}: {error}")
    except OSError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
