# SPDX-License-Identifier: Apache-2.0
"""Writes golden values of BERT with transformers: a small model with random weights, and vectors of all-MiniLM-L6-v2.

    .deps/huggingface/bin/python tests/text/language/golden/make_bert_golden.py [.deps/minilm]

`deploy/install.sh install_huggingface` and `install_minilm` make the environment. Run this again only to change what is
compared. The values are computed by transformers in float32, one sequence at a time. A sentence's vector is the mean of
its last hidden states, scaled to length 1, as sentence-transformers computes it for this model.

  bert/                  the small model
  bert.safetensors       its sequences and their hidden states
  sentences.safetensors  "texts", each with its size in bytes (32 bits) before it, and their "vectors"
"""
import pathlib
import struct
import sys

import torch
from safetensors.torch import save_file
from transformers import AutoModel, AutoTokenizer, BertConfig, BertModel

HERE = pathlib.Path(__file__).parent
LENGTHS = (9, 1, 40, 2, 17, 9, 9)
MAXIMUM = 256

TEXTS = [
    "", "set the asset tag", "Set Boot Source Override Target to Pxe of Computer System",
    "Boot the system from the network once: PXE boot override, then restart.",
    "Reinstall over the network: one single PXE boot by override, the system restarted and on.",
    '{"body":{"ResetType":"ForceRestart"},"method":"POST","uri":"/redfish/v1/Systems/1/Actions/ComputerSystem.Reset"}',
    "The quick brown fox jumps over the lazy dog.", "naïve Ångström — 中文 テスト \U0001f600", "x" * 150, "[CLS] [SEP]",
    " ".join(f"property {i} is {i * i}" for i in range(150)), "delete the account of operator seven",
    "An account that may only read", "Create a RAID 1 volume of the two drives of the storage controller",
]


def small_model():
    torch.manual_seed(2)
    config = BertConfig(vocab_size=200, max_position_embeddings=48, hidden_size=32, num_hidden_layers=3,
                        num_attention_heads=4, intermediate_size=80)
    model = BertModel(config).eval()
    # The weights are large enough for every part to matter: norms, biases and softmax are far from trivial.
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return model


def small():
    model = small_model()
    model.save_pretrained(HERE / "bert")
    sequences = [torch.randint(200, (length,)).tolist() for length in LENGTHS]
    starts = [0]
    for sequence in sequences:
        starts.append(starts[-1] + len(sequence))
    hidden = torch.cat([model(torch.tensor([ids])).last_hidden_state[0] for ids in sequences])
    save_file({"ids": torch.tensor(sum(sequences, [])), "starts": torch.tensor(starts), "hidden": hidden},
              HERE / "bert.safetensors")


def sentences(folder):
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder, dtype=torch.float32).eval()
    vectors = []
    for text in TEXTS:
        asked = tokenizer(text, truncation=True, max_length=MAXIMUM, return_tensors="pt")
        mean = model(**asked).last_hidden_state[0].mean(0)
        vectors.append(torch.nn.functional.normalize(mean, dim=0))
    packed = b"".join(struct.pack("<I", len(text.encode())) + text.encode() for text in TEXTS)
    save_file({"texts": torch.tensor(list(packed), dtype=torch.uint8), "vectors": torch.stack(vectors)},
              HERE / "sentences.safetensors")


def main():
    with torch.no_grad():
        small()
        sentences(sys.argv[1] if len(sys.argv) > 1 else ".deps/minilm")


if __name__ == "__main__":
    main()
