# SPDX-License-Identifier: Apache-2.0
"""Networks in ONNX that are made here, imported, and compared with counts by hand and with the shipped ResNet-50."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "data/placement"))
import import_onnx  # noqa: E402


class Model:
    """A model under construction. Its parameters have shapes, and no numbers."""

    def __init__(self):
        self.nodes, self.inputs, self.outputs, self.initialisers = [], [], [], []

    def input(self, name, shape, element=TensorProto.FLOAT):
        self.inputs.append(helper.make_tensor_value_info(name, element, shape))
        return name

    def parameter(self, name, *shape, element=TensorProto.FLOAT):
        self.initialisers.append(TensorProto(name=name, dims=shape, data_type=element))
        return name

    def integers(self, name, *values):
        self.initialisers.append(helper.make_tensor(name, TensorProto.INT64, [len(values)], values))
        return name

    def node(self, kind, name, inputs, outputs=None, **attributes):
        self.nodes.append(helper.make_node(kind, inputs, outputs or [name], name=name, **attributes))
        return name

    def output(self, name, element=TensorProto.FLOAT):
        self.outputs.append(helper.make_tensor_value_info(name, element, None))

    def conv(self, name, x, channels, depth, kernel, stride=1, padding=0):
        """A convolution without bias, and batch normalisation."""
        x = self.node("Conv", name, [x, self.parameter(name + ".w", channels, depth, kernel, kernel)],
                      strides=[stride] * 2, pads=[padding] * 4)
        return self.node("BatchNormalization", name + ".norm",
                         [x] + [self.parameter(f"{name}.{part}", channels) for part in ("scale", "bias", "mean", "var")])

    def save(self, folder, opset=20):
        graph = helper.make_graph(self.nodes, "network", self.inputs, self.outputs, self.initialisers)
        path = pathlib.Path(folder) / "network.onnx"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)]), path)
        return path


def resnet50():
    """The layers of torchvision's resnet50, as its exporter names them in ONNX."""
    model = Model()
    x = model.conv("conv1", model.input("image", ["batch", 3, 224, 224]), 64, 3, 7, 2, 3)
    x = model.node("Relu", "relu", [x])
    x = model.node("MaxPool", "maxpool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    depth = 64
    for stage, count in enumerate((3, 4, 6, 3)):
        width = 64 << stage
        for block in range(count):
            name, stride = f"layer{stage + 1}.{block}", 2 if stage > 0 and block == 0 else 1
            y = model.node("Relu", name + ".relu1", [model.conv(name + ".conv1", x, width, depth, 1)])
            y = model.node("Relu", name + ".relu2", [model.conv(name + ".conv2", y, width, width, 3, stride, 1)])
            y = model.conv(name + ".conv3", y, 4 * width, width, 1)
            shortcut = model.conv(name + ".downsample", x, 4 * width, depth, 1, stride) if block == 0 else x
            x, depth = model.node("Relu", name + ".relu3", [model.node("Add", name + ".add", [y, shortcut])]), 4 * width
    x = model.node("Flatten", "flatten", [model.node("GlobalAveragePool", "avgpool", [x])])
    model.output(model.node("Gemm", "fc", [x, model.parameter("fc.w", 1000, 2048), model.parameter("fc.b", 1000)], transB=1))
    return model


class ImportTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def operations(self, model, **flags):
        """The operations of a step by name."""
        step = import_onnx.import_model(model.save(self.folder), **flags)
        self.step = step
        return {operation["name"]: operation for operation in step.operations}

    def refusal(self, model, **flags):
        with self.assertRaises(import_onnx.ModelError) as raised:
            import_onnx.import_model(model.save(self.folder), **flags)
        return str(raised.exception)

    def inputs(self, operation):
        """What an operation reads: pairs of a name and bytes."""
        every = self.step.operations
        pairs = [(i, every[i]["activation_bytes"]) if isinstance(i, int) else i for i in operation["inputs"]]
        return {every[i]["name"]: size for i, size in pairs}

    def test_a_perceptron_costs_what_its_products_cost(self):
        model = Model()
        x = model.input("x", ["batch", 10])
        x = model.node("Gemm", "first", [x, model.parameter("w1", 10, 20), model.parameter("b1", 20)])
        x = model.node("Relu", "relu", [x])
        x = model.node("MatMul", "second", [x, model.parameter("w2", 20, 3)])
        model.output(model.node("Softmax", "probabilities", [x]))
        found = self.operations(model, batch=8)
        self.assertEqual(self.step.batch, 8)
        self.assertEqual(self.step.parameters, 10 * 20 + 20 + 20 * 3)
        first, second = found["first/forward"], found["second/forward"]
        self.assertEqual((first["kind"], first["flops"]), ("matmul", 2 * 8 * 10 * 20))
        self.assertEqual((first["parameter_bytes"], first["activation_bytes"]), (4 * 220, 4 * 8 * 20))
        self.assertEqual(second["flops"], 2 * 8 * 20 * 3)
        self.assertEqual(found["probabilities/forward"]["flops"], 5 * 8 * 3)
        # The input of the first product needs no gradient, so its backward operation has one product, not two.
        self.assertEqual(found["first/backward"]["flops"], first["flops"])
        self.assertEqual(found["first/backward"]["activation_bytes"], 0)
        self.assertEqual(found["second/backward"]["flops"], 2 * second["flops"])
        self.assertEqual(found["second/backward"]["activation_bytes"], 4 * 8 * 20)
        self.assertEqual(self.inputs(found["second/update"]), {"second/backward": 4 * 60})
        self.assertEqual(found["second/update"]["flops"], 4 * 60)
        # Each product begins a group, and what has no parameters is in the group of what it reads.
        self.assertEqual([found[name]["group"] for name in ("relu/forward", "probabilities/backward", "loss/forward")],
                         ["first", "second", "second"])
        # The step goes backward from the loss alone.
        self.assertIn("loss/backward", self.inputs(found["probabilities/backward"]))

    def test_a_convolution_with_a_shortcut_is_counted_by_its_windows(self):
        model = Model()
        x = model.input("image", ["N", 3, 8, 8])
        a = model.conv("a", x, 16, 3, 3, 2, 1)  # 16 x 4 x 4
        b = model.node("Conv", "depthwise", [a, model.parameter("w", 16, 1, 3, 3)], group=16, pads=[1] * 4)
        y = model.node("Add", "add", [a, b])
        y = model.node("AveragePool", "pool", [y], kernel_shape=[2, 2], strides=[2, 2])
        y = model.node("Reshape", "flat", [y, model.integers("shape", -1, 64)])
        model.output(model.node("Gemm", "head", [y, model.parameter("head.w", 64, 5), model.parameter("head.b", 5)]))
        found = self.operations(model, batch=2)
        self.assertEqual(found["a/forward"]["flops"], 2 * 2 * 16 * 4 * 4 * 3 * 3 * 3)
        self.assertEqual(found["depthwise/forward"]["flops"], 2 * 2 * 16 * 4 * 4 * 3 * 3)
        # Running means and variances are not learned.
        self.assertEqual(found["a.norm/forward"]["parameter_bytes"], 4 * 2 * 16)
        self.assertEqual(found["a.norm/forward"]["flops"], 8 * 2 * 16 * 4 * 4)
        self.assertEqual(found["add/forward"]["flops"], 2 * 16 * 4 * 4)
        self.assertEqual(found["pool/forward"]["flops"], 2 * 2 * 2 * 16 * 2 * 2)
        self.assertEqual(set(self.inputs(found["add/forward"])), {"a.norm/forward", "depthwise/forward"})
        # Another shape of a tensor is not another operation.
        self.assertNotIn("flat/forward", found)
        self.assertEqual(self.inputs(found["head/forward"]), {"pool/forward": 4 * 2 * 64})
        self.assertEqual(self.step.multiplications, 2 * 16 * 16 * 27 + 2 * 16 * 16 * 9 + 2 * 64 * 5)
        self.assertEqual(self.step.parameters, 16 * 27 + 32 + 16 * 9 + 65 * 5)

    def test_recurrent_layers_read_words_and_hand_on_parts_of_their_outputs(self):
        model = Model()
        ids = model.input("ids", ["sequence", "batch"], TensorProto.INT64)
        x = model.node("Gather", "embedding", [model.parameter("words", 100, 6), ids])
        model.node("LSTM", "lstm", [x, model.parameter("w", 1, 4 * 5, 6), model.parameter("r", 1, 4 * 5, 5),
                                    model.parameter("b", 1, 8 * 5)], ["y", "last", ""], hidden_size=5)
        model.node("GRU", "gru", ["last", model.parameter("gw", 2, 3 * 7, 5), model.parameter("gr", 2, 3 * 7, 7)],
                   ["gy", "gh"], hidden_size=7, direction="bidirectional")
        model.output("gh")
        model.output("y")
        found = self.operations(model, batch=3, sizes={"sequence": 4})
        embedding = found["embedding/forward"]
        self.assertEqual((embedding["kind"], embedding["flops"], embedding["parameter_bytes"]), ("lookup", 4 * 3 * 6, 2400))
        self.assertEqual(found["ids/forward"]["activation_bytes"], 8 * 4 * 3)
        lstm = found["lstm/forward"]
        self.assertEqual((lstm["kind"], lstm["flops"]), ("lstm", 4 * 3 * 20 * (2 * (6 + 5) + 7.5)))
        self.assertEqual(lstm["parameter_bytes"], 4 * (20 * 6 + 20 * 5 + 40))
        # Its outputs are all positions of one layer, and the last position.
        self.assertEqual(lstm["activation_bytes"], 4 * (4 * 3 * 5 + 3 * 5))
        self.assertEqual(self.inputs(found["gru/forward"]), {"lstm/forward": 4 * 3 * 5})
        # Two directions over a sequence of one.
        self.assertEqual(found["gru/forward"]["flops"], 2 * 1 * 3 * 21 * (2 * (5 + 7) + 7.5) // 1)
        self.assertEqual(found["gru/backward"]["activation_bytes"], 4 * 3 * 5)
        self.assertEqual(found["lstm/backward"]["flops"], 2 * lstm["flops"])

    def test_a_block_of_a_transformer_counts_attention_and_shares_the_words(self):
        model = Model()
        ids = model.input("ids", [2, 4], TensorProto.INT64)
        x = model.node("Gather", "words", [model.parameter("table", 50, 8), ids])
        n = model.node("LayerNormalization", "norm", [x, model.parameter("scale", 8), model.parameter("bias", 8)])
        qkv = model.node("MatMul", "qkv", [n, model.parameter("w", 8, 24)])
        model.node("Split", "split", [qkv], ["q", "k", "v"], axis=-1, num_outputs=3)
        k = model.node("Transpose", "turned", ["k"], perm=[0, 2, 1])
        scores = model.node("Softmax", "weights", [model.node("MatMul", "scores", ["q", k])])
        y = model.node("Add", "sum", [model.node("MatMul", "mixed", [scores, "v"]), x])
        y = model.node("Gelu", "gelu", [y])
        back = model.node("Transpose", "table_turned", ["table"], perm=[1, 0])
        model.output(model.node("MatMul", "logits", [y, back]))
        found = self.operations(model)
        self.assertEqual(found["norm/forward"]["flops"], 8 * 64)
        self.assertEqual(found["scores/forward"]["flops"], 2 * 2 * 4 * 4 * 8)
        self.assertEqual(self.inputs(found["scores/forward"]), {"split/forward": 4 * 64, "turned/forward": 4 * 64})
        self.assertEqual(found["split/forward"]["flops"], 0)
        self.assertEqual(found["split/forward"]["activation_bytes"], 3 * 4 * 64)
        self.assertEqual(found["weights/forward"]["flops"], 5 * 2 * 4 * 4)
        self.assertEqual(found["gelu/forward"]["flops"], 10 * 64)
        # The table is the parameter of the first operation that has it. The last product gets it sent, and its gradient
        # goes back.
        self.assertEqual(self.step.parameters, 50 * 8 + 16 + 8 * 24)
        self.assertNotIn("table_turned/forward", found)
        self.assertEqual(self.inputs(found["logits/forward"])["words/forward"], 4 * 50 * 8)
        self.assertIn("logits/backward", self.inputs(found["words/update"]))
        self.assertNotIn("logits/update", found)

    def test_half_precision_has_half_the_bytes_and_other_nodes_count_their_elements(self):
        model = Model()
        x = model.input("x", [4, 6], TensorProto.FLOAT16)
        x = model.node("MatMul", "product", [x, model.parameter("w", 6, 6, element=TensorProto.FLOAT16)])
        x = model.node("CumSum", "running", [x, model.integers("axis", 1)])
        model.node("TopK", "top", [x, model.integers("two", 2)], ["best", "places"])
        x = model.node("Einsum", "outer", ["best", "best"], equation="bi,bj->bij")
        mask = model.node("Greater", "mask", [x, model.node("Neg", "less", [x])])
        x = model.node("Where", "chosen", [mask, x, "less"])
        model.output(x, TensorProto.FLOAT16)
        found = self.operations(model)
        self.assertEqual(found["product/forward"]["parameter_bytes"], 2 * 36)
        self.assertEqual(found["product/backward"]["parameter_bytes"], 2 * 36)
        self.assertEqual((found["running/forward"]["kind"], found["running/forward"]["flops"]), ("elementwise", 24))
        self.assertEqual(found["top/forward"]["activation_bytes"], 2 * 8)
        self.assertEqual(found["outer/forward"]["flops"], 2 * 4 * 2 * 2)
        # No gradient flows through a comparison, whose output has a byte an element.
        self.assertEqual(found["mask/forward"]["activation_bytes"], 4 * 2 * 2)
        self.assertNotIn("mask/backward", found)
        self.assertEqual(found["chosen/backward"]["activation_bytes"], 2 * 2 * 16)

    def test_resnet_50_is_the_shipped_one(self):
        shipped = json.loads((ROOT / "data/placement/graphs/resnet50.json").read_text())

        def totals(operations):
            sums = {}
            for operation in operations:
                key = (operation["kind"], operation["phase"])
                if operation["kind"] != "softmax":
                    row = sums.setdefault(key, [0, 0, 0, 0])
                    for i, name in enumerate(("flops", "parameter_bytes", "activation_bytes")):
                        row[i] += operation[name]
                    row[3] += 1
            return sums

        self.operations(resnet50(), batch=32)
        self.assertEqual(self.step.parameters, 25_557_032)
        self.assertEqual(f"{self.step.multiplications / 32 / 1e9:.2f}", "4.09")
        self.assertEqual(totals(self.step.operations), totals(shipped["operations"]))

    def test_the_resnet_50_of_the_onnx_package_multiplies_as_often(self):
        # It was made by another exporter and names other axes; its weights are left out.
        path = pathlib.Path(onnx.__file__).parent / "backend/test/data/light/light_resnet50.onnx"
        self.assertEqual(import_onnx.import_model(path).multiplications, 4_089_184_256)

    def test_sizes_that_the_model_computes_are_followed(self):
        model = Model()
        x = model.node("MatMul", "product", [model.input("x", ["batch", "?", 4]), model.parameter("w", 4, 6)])
        size = model.node("Shape", "shape", [x])
        half = model.node("Div", "half", [size, model.integers("two", 2)])
        rest = model.node("Sub", "rest", [size, half])
        pads = model.node("Concat", "pads", [half, rest], axis=0)
        padded = model.node("Pad", "padded", [x, pads])
        model.output(model.node("MatMul", "second", [padded, model.parameter("v", 12, 5)]))
        found = self.operations(model, batch=2, sizes={"x.1": 3})
        self.assertEqual(found["padded/forward"]["shape"], [4, 6, 12])
        self.assertEqual(found["second/forward"]["flops"], 2 * 4 * 6 * 12 * 5)
        self.assertEqual(self.refusal(model, batch=2), 'input "x" has no size in dimension 1; give --size x.1=N')

    def test_sizes_that_would_be_many_are_not_made(self):
        many = [1 << 20, 1 << 20]
        for kind, given in (("ConstantOfShape", [many]), ("Range", [0, 1 << 40, 1]), ("Range", [0, 1, 0]),
                            ("Expand", [[1], many]), ("Tile", [[1], [1 << 40]])):
            with self.subTest(kind=kind, given=given):
                node = helper.make_node(kind, [f"input{i}" for i in range(len(given))], ["made"])
                made = import_onnx.elements_made(node, [np.array(value) for value in given])
                self.assertGreater(made, import_onnx.MOST_SIZES)
        model = Model()
        ones = model.node("ConstantOfShape", "mask", [model.integers("shape", *many)])
        x = model.node("MatMul", "product", [model.input("x", [2, 4]), model.parameter("w", 4, 4)])
        model.output(model.node("Add", "sum", [x, model.node("ReduceMax", "most", [ones], keepdims=0)]))
        self.assertEqual(self.operations(model)["sum/forward"]["shape"], [2, 4])

    def test_what_cannot_be_counted_is_refused_by_name(self):
        model = Model()
        x = model.node("MatMul", "product", [model.input("x", ["batch", "words", 4]), model.parameter("w", 4, 4)])
        model.output(x)
        self.assertEqual(self.refusal(model), 'input "x" has no size in dimension 0; give --batch N')
        self.assertEqual(self.refusal(model, batch=2), 'input "x" has no size in dimension 1; give --size words=N')
        self.assertEqual(self.refusal(model, batch=2, sizes={"words": 3, "letters": 9}),
                         'no input has the dimension "letters"')
        model = Model()
        x = model.node("MatMul", "product", [model.input("x", [2, 4]), model.parameter("w", 4, 4)])
        x = model.node("NonZero", "found", [x])
        model.output(x, TensorProto.INT64)
        self.assertEqual(self.refusal(model), 'node "found" (NonZero): the shape of its output "found" cannot be inferred')
        self.assertIn("--batch cannot change it", self.refusal(model, batch=2))
        model = Model()
        model.output(model.node("Relu", "relu", [model.input("x", [2, 4])]))
        self.assertEqual(self.refusal(model), "the model has no parameters in floating point")
        model = Model()
        same = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "branch", [],
                                 [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 4])])
        yes = model.input("yes", [], TensorProto.BOOL)
        model.output(model.node("If", "either", [yes], then_branch=same, else_branch=same))
        model.input("x", [2, 4])
        self.assertEqual(self.refusal(model), 'node "either" (If) contains a graph of its own, which is not supported')
        path = self.folder / "broken.onnx"
        path.write_bytes(b"no model at all")
        with self.assertRaisesRegex(import_onnx.ModelError, "no ONNX model that can be read"):
            import_onnx.import_model(path)

    @unittest.skipUnless("SHOAL_PROGRAMS" in os.environ, "SHOAL_PROGRAMS names no folder of programs")
    def test_shoal_places_what_was_imported(self):
        path = resnet50().save(self.folder)
        script = [sys.executable, str(ROOT / "data/placement/import_onnx.py"), str(path), "--batch", "32"]
        subprocess.run(script, check=True, capture_output=True)
        shoal = [os.environ["SHOAL_PROGRAMS"] + "/shoal", "place", "--evaluations", "50", "--searches", "annealing",
                 "--devices", str(ROOT / "data/placement/devices/k80.toml")]
        answer = subprocess.run([*shoal, str(path.with_suffix(".json"))], check=True, capture_output=True, text=True).stdout
        self.assertIn("network: ", answer)
        # One device takes as long as for the shipped graph, whose loss is another.
        self.assertRegex(answer, r"one device +478\.\d+ ms")
        refusal = subprocess.run([*shoal, str(path)], capture_output=True, text=True)
        self.assertNotEqual(refusal.returncode, 0)
        self.assertIn("import_onnx.py", refusal.stderr)
        # A batch that is missing is one line, not a traceback.
        refusal = subprocess.run(script[:-2], capture_output=True, text=True)
        self.assertEqual(refusal.returncode, 1)
        self.assertEqual(refusal.stderr, f'{path}: input "image" has no size in dimension 0; give --batch N\n')


if __name__ == "__main__":
    unittest.main()
