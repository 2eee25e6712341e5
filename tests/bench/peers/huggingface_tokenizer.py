#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how fast Hugging Face's tokenizers encodes the texts of `bench_tokenizer --write-texts`. Prints a JSON line.

  huggingface_tokenizer.py FOLDER [--seconds 1]

It encodes whole sets at once without offsets, its fastest way. The caller limits it to one thread by the environment.
"""
import argparse
import json
import time
from pathlib import Path

from tokenizers import Tokenizer, models, pre_tokenizers

ROOT = Path(__file__).resolve().parents[3]


def gpt2():
    folder = ROOT / "data/gpt2"
    tokenizer = Tokenizer(models.BPE.from_file(str(folder / "encoder.json"), str(folder / "vocab.bpe")))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.add_special_tokens(["<|endoftext|>"])
    return tokenizer


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=1)
    arguments = parser.parse_args()
    tokenizer = gpt2()
    line = {}
    for name in ["long", "short"]:
        data = (arguments.folder / name).read_bytes()
        texts = data.decode().split("\n")[:-1]
        size = len(data) - len(texts)
        line[f"{name}_tokens"] = sum(len(encoding.ids) for encoding in tokenizer.encode_batch_fast(texts))
        start, passes = time.perf_counter(), 0
        while time.perf_counter() - start < arguments.seconds:
            tokenizer.encode_batch_fast(texts)
            passes += 1
        line[f"{name}_mb_per_s"] = size * passes / (time.perf_counter() - start) / 1e6
    print(json.dumps(line))


if __name__ == "__main__":
    main()
