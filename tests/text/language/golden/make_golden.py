# SPDX-License-Identifier: Apache-2.0
"""Writes golden values of GPT-2 with transformers: a small model with random weights and its results.

    .deps/huggingface/bin/python tests/text/language/golden/make_golden.py

`deploy/install.sh install_huggingface` makes the environment. Run this again only to change what is compared. The
values are computed by transformers in float32, one sequence at a time.
"""
import pathlib

import torch
from safetensors.torch import save_file
from transformers import GPT2Config, GPT2LMHeadModel

HERE = pathlib.Path(__file__).parent
LENGTHS = (9, 1, 40, 2, 17)
NEW_TOKENS = 20


def make_model():
    torch.manual_seed(1)
    config = GPT2Config(vocab_size=200, n_positions=64, n_embd=32, n_layer=3, n_head=4, bos_token_id=0, eos_token_id=0)
    model = GPT2LMHeadModel(config).eval()
    # The weights are large enough for every part to matter: norms, biases and softmax are far from trivial.
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return model


def greedy(model, ids):
    made = []
    for _ in range(NEW_TOKENS):
        made.append(model(torch.tensor([ids + made])).logits[0, -1].argmax().item())
    return made


def main():
    model = make_model()
    model.save_pretrained(HERE / "gpt2")
    (HERE / "gpt2" / "generation_config.json").unlink(missing_ok=True)
    sequences = [torch.randint(200, (length,)).tolist() for length in LENGTHS]
    starts = [0]
    for sequence in sequences:
        starts.append(starts[-1] + len(sequence))
    values = {"ids": torch.tensor(sum(sequences, [])), "starts": torch.tensor(starts)}
    with torch.no_grad():
        results = [model(torch.tensor([ids]), output_hidden_states=True) for ids in sequences]
        values["logits"] = torch.cat([result.logits[0] for result in results])
        for layer in range(model.config.n_layer + 1):
            values[f"hidden.{layer}"] = torch.cat([result.hidden_states[layer][0] for result in results])
        for index, ids in enumerate(sequences):
            values[f"greedy.{index}"] = torch.tensor(greedy(model, ids))
    save_file(values, HERE / "values.safetensors")


if __name__ == "__main__":
    main()
