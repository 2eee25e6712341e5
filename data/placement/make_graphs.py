#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes data/placement/graphs/: one training step of six networks as graphs of operations.

The networks are written down here layer by layer, from their papers; there are no weights. Numbers of parameters and
multiplications are compared with the published ones, and the script fails when they differ. It needs Python 3.11 alone:

    data/placement/make_graphs.py [FOLDER]

docs/placement.md describes the format. Numbers are in float32.
"""
import pathlib
import sys
from math import prod

from training_step import Step


class Images(Step):
    """Convolutional networks. Shapes are [batch, channels, height, width]."""

    def image(self, channels, size):
        return self.add("input", "input", [], [self.batch, channels, size, size], 0)

    def conv(self, name, x, channels, kernel, stride=1, padding=(0, 0), relu=True, group=None):
        """Convolution without bias, batch normalisation and, with `relu`, a rectifier."""
        kernel = kernel if isinstance(kernel, tuple) else (kernel, kernel)
        batch, depth, height, width = self.shape(x)
        height = (height + 2 * padding[0] - kernel[0]) // stride + 1
        width = (width + 2 * padding[1] - kernel[1]) // stride + 1
        shape = [batch, channels, height, width]
        weights = channels * depth * kernel[0] * kernel[1]
        group = group or name
        x = self.add(name + "/conv", "conv", [x], shape, 2 * batch * height * width * weights, weights, group)
        x = self.add(name + "/norm", "norm", [x], shape, 8 * prod(shape), 2 * channels, group)
        return self.add(name + "/relu", "elementwise", [x], shape, prod(shape), 0, group) if relu else x

    def pool(self, name, x, kernel, stride, padding=0, group=None):
        batch, channels, height, width = self.shape(x)
        height = (height + 2 * padding - kernel) // stride + 1
        width = (width + 2 * padding - kernel) // stride + 1
        shape = [batch, channels, height, width]
        return self.add(name, "pool", [x], shape, kernel * kernel * prod(shape), 0, group)

    def classify(self, name, x, classes=1000):
        batch, channels, height, width = self.shape(x)
        x = self.add(name + "/average", "pool", [x], [batch, channels], batch * channels * height * width, 0, name)
        x = self.add(name + "/linear", "matmul", [x], [batch, classes], 2 * batch * channels * classes,
                     (channels + 1) * classes, name)
        return self.add(name + "/loss", "softmax", [x], [batch], 5 * batch * classes, 0, name)


def resnet(name, blocks, parameters, multiplications, batch=32):
    """He et al., "Deep Residual Learning for Image Recognition", CVPR 2016, table 1, with the stride in the 3x3."""
    step = Images(name, batch, f"He et al., CVPR 2016, table 1; ImageNet, batch {batch}")
    x = step.image(3, 224)
    x = step.conv("stem", x, 64, 7, 2, (3, 3))
    x = step.pool("stem/pool", x, 3, 2, 1, "stem")
    for stage, count in enumerate(blocks):
        width = 64 << stage
        for block in range(count):
            group = f"stage{stage + 1}.{block}"
            stride = 2 if stage > 0 and block == 0 else 1
            shortcut = x
            x = step.conv(group + "/a", x, width, 1, group=group)
            x = step.conv(group + "/b", x, width, 3, stride, (1, 1), group=group)
            x = step.conv(group + "/c", x, 4 * width, 1, relu=False, group=group)
            if block == 0:
                shortcut = step.conv(group + "/shortcut", shortcut, 4 * width, 1, stride, relu=False, group=group)
            shape = step.shape(x)
            x = step.add(group + "/add", "elementwise", [x, shortcut], shape, prod(shape), 0, group)
            x = step.add(group + "/relu", "elementwise", [x], shape, prod(shape), 0, group)
    step.classify("classifier", x)
    check(step, parameters, multiplications)
    return step.finish()


def inception_v3():
    """Szegedy et al., "Rethinking the Inception Architecture for Computer Vision", CVPR 2016, table 1."""
    step = Images("inception-v3", 32, "Szegedy et al., CVPR 2016, table 1, without the auxiliary head; ImageNet, batch 32")

    def concat(group, parts):
        batch, _, height, width = step.shape(parts[0])
        shape = [batch, sum(step.shape(part)[1] for part in parts), height, width]
        return step.add(group + "/concat", "elementwise", parts, shape, 0, 0, group)

    def chain(group, branch, x, layers):
        """Layers (channels, kernel[, stride, padding]); each branch is a group of its own, so that it can move."""
        for i, (channels, kernel, *rest) in enumerate(layers):
            stride = rest[0] if rest else 1
            kernel = kernel if isinstance(kernel, tuple) else (kernel, kernel)
            padding = rest[1] if len(rest) > 1 else (kernel[0] // 2, kernel[1] // 2)
            x = step.conv(f"{group}/{branch}{i}", x, channels, kernel, stride, padding, group=f"{group}/{branch}")
        return x

    def pooled(group, x, channels):
        x = step.pool(group + "/pool", x, 3, 1, 1, group + "/p")
        return step.conv(group + "/p0", x, channels, 1, group=group + "/p")

    x = step.image(3, 299)
    x = step.conv("stem1", x, 32, 3, 2)
    x = step.conv("stem2", x, 32, 3)
    x = step.conv("stem3", x, 64, 3, 1, (1, 1))
    x = step.pool("stem3/pool", x, 3, 2, 0, "stem3")
    x = step.conv("stem4", x, 80, 1)
    x = step.conv("stem5", x, 192, 3)
    x = step.pool("stem5/pool", x, 3, 2, 0, "stem5")
    for i, features in enumerate((32, 64, 64)):
        g = f"a{i}"
        x = concat(g, [chain(g, "1x1-", x, [(64, 1)]), chain(g, "5x5-", x, [(48, 1), (64, 5)]),
                       chain(g, "3x3-", x, [(64, 1), (96, 3), (96, 3)]), pooled(g, x, features)])
    x = concat("b", [chain("b", "3x3-", x, [(384, 3, 2, (0, 0))]),
                     chain("b", "double-", x, [(64, 1), (96, 3), (96, 3, 2, (0, 0))]),
                     step.pool("b/pool", x, 3, 2)])
    for i, c in enumerate((128, 160, 160, 192)):
        g = f"c{i}"
        x = concat(g, [chain(g, "1x1-", x, [(192, 1)]),
                       chain(g, "7x7-", x, [(c, 1), (c, (1, 7)), (192, (7, 1))]),
                       chain(g, "double-", x, [(c, 1), (c, (7, 1)), (c, (1, 7)), (c, (7, 1)), (192, (1, 7))]),
                       pooled(g, x, 192)])
    x = concat("d", [chain("d", "3x3-", x, [(192, 1), (320, 3, 2, (0, 0))]),
                     chain("d", "7x7-", x, [(192, 1), (192, (1, 7)), (192, (7, 1)), (192, 3, 2, (0, 0))]),
                     step.pool("d/pool", x, 3, 2)])
    for i in range(2):
        g = f"e{i}"
        narrow = chain(g, "3x3-", x, [(384, 1)])
        double = chain(g, "double-", x, [(448, 1), (384, 3)])
        x = concat(g, [chain(g, "1x1-", x, [(320, 1)]),
                       chain(g, "3x3-wide", narrow, [(384, (1, 3))]), chain(g, "3x3-high", narrow, [(384, (3, 1))]),
                       chain(g, "double-wide", double, [(384, (1, 3))]), chain(g, "double-high", double, [(384, (3, 1))]),
                       pooled(g, x, 192)])
    step.classify("classifier", x)
    check(step, 23_834_568, 5.71)
    return step.finish()


class Recurrent(Step):
    """Networks over sequences. Shapes are [batch, features]; one operation a layer and position."""

    def cell(self, name, group, position, inputs, width, features):
        """One position of an LSTM layer; the first position has the parameters."""
        parameters = 4 * width * (features + width + 1)
        return self.shared(name, group, position, "lstm", inputs, [self.batch, width],
                           2 * self.batch * 4 * width * (features + width) + 30 * self.batch * width, parameters)

    def shared(self, name, group, position, kind, inputs, shape, flops, parameters):
        first = self.cells.get(name)
        index = self.add(f"{name}.{position}", kind, inputs, shape, flops, parameters if first is None else 0, group,
                         shared_with=[] if first is None else [first])
        self.cells.setdefault(name, index)
        return index


def rnnlm():
    """Jozefowicz et al., "Exploring the Limits of Language Modeling", 2016; four layers as Mirhoseini et al. 2017 use."""
    layers, width, words, length, batch = 4, 1024, 10_000, 20, 64
    step = Recurrent("rnnlm", batch, "4 LSTM layers of 1024 after Mirhoseini et al., ICML 2017; 10,000 words, 20 "
                     "positions, batch 64")
    step.cells = {}
    tokens = step.add("input", "input", [], [batch, length], 0)
    below = [step.shared("embedding", "embedding", t, "lookup", [tokens], [batch, width], batch * width, words * width)
             for t in range(length)]
    for layer in range(layers):
        outputs, previous = [], []
        for t in range(length):
            # Groups are a layer and a quarter of the positions.
            outputs.append(step.cell(f"lstm{layer}", f"lstm{layer}/{t // 5}", t, [below[t]] + previous, width, width))
            previous = [outputs[-1]]
        below = outputs
    for t in range(length):
        logits = step.shared("softmax", f"softmax/{t // 5}", t, "matmul", [below[t]], [batch, words],
                             2 * batch * width * words, (width + 1) * words)
        step.add(f"loss.{t}", "softmax", [logits], [batch], 5 * batch * words, 0, f"softmax/{t // 5}")
    check(step, words * width + layers * 4 * width * (2 * width + 1) + (width + 1) * words)
    return step.finish()


def nmt():
    """Bahdanau et al., ICLR 2015, with two layers on each side as in Mirhoseini et al., ICML 2017."""
    layers, width, words, length, batch = 2, 1024, 30_000, 20, 64
    step = Recurrent("nmt", batch, "2 + 2 LSTM layers of 1024 with attention after Bahdanau et al., ICLR 2015, and "
                     "Mirhoseini et al., ICML 2017; 30,000 words, 20 + 20 positions, batch 64")
    step.cells = {}

    def stack(side, below, features, extra):
        for layer in range(layers):
            outputs, previous = [], []
            for t in range(length):
                outputs.append(step.cell(f"{side}.lstm{layer}", f"{side}.lstm{layer}/{t // 5}", t,
                                         [below[t]] + previous + extra, width, features))
                previous = [outputs[-1]]
            below, features = outputs, width
        return below

    def embed(side):
        tokens = step.add(side + ".input", "input", [], [batch, length], 0, 0, side + ".embedding")
        return [step.shared(side + ".embedding", side + ".embedding", t, "lookup", [tokens], [batch, width],
                            batch * width, words * width) for t in range(length)]

    source = stack("encoder", embed("encoder"), width, [])
    memory = step.add("memory", "elementwise", source, [batch, length, width], 0)
    keys = step.add("memory/keys", "matmul", [memory], [batch, length, width], 2 * batch * length * width * width,
                    width * width, "memory")
    target = stack("decoder", embed("decoder"), width, [])
    for t in range(length):
        group = f"attention/{t // 5}"
        scores = step.add(f"attention.{t}/scores", "matmul", [target[t], keys], [batch, length],
                          2 * batch * length * width, 0, group)
        weights = step.add(f"attention.{t}/weights", "softmax", [scores], [batch, length], 5 * batch * length, 0, group)
        context = step.add(f"attention.{t}/context", "matmul", [weights, memory], [batch, width],
                           2 * batch * length * width, 0, group)
        mixed = step.shared("attention.mix", group, t, "matmul", [context, target[t]], [batch, width],
                            2 * batch * 2 * width * width, 2 * width * width)
        logits = step.shared("softmax", f"softmax/{t // 5}", t, "matmul", [mixed], [batch, words],
                             2 * batch * width * words, (width + 1) * words)
        step.add(f"loss.{t}", "softmax", [logits], [batch], 5 * batch * words, 0, f"softmax/{t // 5}")
    check(step, 2 * words * width + 2 * layers * 4 * width * (2 * width + 1) + 3 * width * width + (width + 1) * words)
    return step.finish()


def gpt2():
    """Radford et al., "Language Models are Unsupervised Multitask Learners", 2019: the small model of lib/text/language."""
    layers, width, heads, words, length, batch = 12, 768, 12, 50_257, 512, 8
    step = Step("gpt2-small", batch, "Radford et al., 2019: 12 layers of 768; blocks of 512 tokens, batch 8")
    rows, shape = batch * length, [batch, length, width]
    tokens = step.add("input", "input", [], [batch, length], 0)
    embedding = step.add("embedding/tokens", "lookup", [tokens], shape, prod(shape), words * width, "embedding")
    x = step.add("embedding/positions", "elementwise", [embedding], shape, prod(shape), 1024 * width, "embedding")

    def norm(name, x, group):
        return step.add(name, "norm", [x], shape, 8 * prod(shape), 2 * width, group)

    def linear(name, x, inputs, outputs, group):
        return step.add(name, "matmul", [x], [batch, length, outputs], 2 * rows * inputs * outputs,
                        (inputs + 1) * outputs, group)

    for layer in range(layers):
        a, m = f"layer{layer}/attention", f"layer{layer}/mlp"
        y = linear(a + "/qkv", norm(a + "/norm", x, a), width, 3 * width, a)
        square = [batch, heads, length, length]
        y2 = step.add(a + "/scores", "matmul", [y], square, 2 * batch * length * length * width, 0, a)
        y2 = step.add(a + "/softmax", "softmax", [y2], square, 5 * prod(square), 0, a)
        y = step.add(a + "/values", "matmul", [y2, y], shape, 2 * batch * length * length * width, 0, a)
        y = linear(a + "/project", y, width, width, a)
        x = step.add(a + "/add", "elementwise", [x, y], shape, prod(shape), 0, a)
        y = linear(m + "/expand", norm(m + "/norm", x, m), width, 4 * width, m)
        y = step.add(m + "/gelu", "elementwise", [y], [batch, length, 4 * width], 10 * rows * 4 * width, 0, m)
        y = linear(m + "/project", y, 4 * width, width, m)
        x = step.add(m + "/add", "elementwise", [x, y], shape, prod(shape), 0, m)
    x = norm("head/norm", x, "head")
    # The last product uses the parameters of the embedding, which must come to it and whose gradient must go back.
    logits = step.add("head/logits", "matmul", [x], [batch, length, words], 2 * rows * width * words, 0, "embedding",
                      shared_with=[embedding])
    step.add("head/loss", "softmax", [logits], [batch, length], 5 * rows * words, 0, "embedding")
    check(step, 124_439_808)
    return step.finish()


def check(step, parameters, multiplications=None):
    if step.parameters != parameters:
        sys.exit(f"{step.name} has {step.parameters} parameters, but {parameters} are published")
    each = step.multiplications / step.batch / 1e9
    if multiplications is not None and abs(each - multiplications) > 0.006:
        sys.exit(f"{step.name} multiplies {each:.3f} G times an example, but {multiplications} G are published")


def main():
    here = pathlib.Path(__file__).parent / "graphs"
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here
    folder.mkdir(parents=True, exist_ok=True)
    # The published numbers are those of torchvision's pages of its models.
    for step in (resnet("resnet50", (3, 4, 6, 3), 25_557_032, 4.09),
                 # `shoal place profile` trains this one.
                 resnet("resnet50-batch4", (3, 4, 6, 3), 25_557_032, 4.09, batch=4),
                 resnet("resnet101", (3, 4, 23, 3), 44_549_160, 7.80),
                 inception_v3(), rnnlm(), nmt(), gpt2()):
        step.write(folder / (step.name + ".json"))


if __name__ == "__main__":
    main()
