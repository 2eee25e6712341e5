# SPDX-License-Identifier: Apache-2.0
"""The peer of bench_encoder: transformers with the same model, batches and threads, in turn with ours.

Batches are padded to their longest text, as transformers needs them. They run with and without the attention mask (a
causal model needs none, since it reads nothing to the right of a text), and the faster of the two is the peer.
huggingface_encoder.sh starts this.
"""
import argparse
import json
import pathlib
import statistics
import tempfile
import time

import torch
import transformers
from safetensors.torch import load_file

from rounds import Ours, figures

SAME = 1e-4


class Peer:
    def __init__(self, folder):
        self.model = transformers.GPT2Model.from_pretrained(folder, attn_implementation="sdpa").eval()
        stored = load_file(pathlib.Path(folder) / "batches.safetensors")
        texts = iter(stored["ids"].split(stored["lengths"].tolist()))
        self.batches = []
        for size in stored["sizes"].tolist():
            rows = [next(texts) for _ in range(size)]
            ids = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
            lengths = torch.tensor([row.numel() for row in rows])
            self.batches.append((ids, (torch.arange(ids.shape[1]) < lengths[:, None]).long()))

    @torch.inference_mode()
    def round(self, masked):
        """Runs a round and returns its seconds and the mean absolute number of the results without padding."""
        seconds = total = numbers = 0
        for ids, mask in self.batches:
            start = time.perf_counter()
            hidden = self.model(ids, attention_mask=mask if masked else None, use_cache=False).last_hidden_state
            seconds += time.perf_counter() - start
            kept = hidden[mask.bool()]
            total += kept.double().abs().sum().item()
            numbers += kept.numel()
        return seconds, total / numbers


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bench", required=True)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    arguments, options = parser.parse_known_args()
    torch.set_num_threads(arguments.threads)
    with tempfile.TemporaryDirectory() as folder:
        ours = Ours([arguments.bench, "--on-request", "--export", folder, "--threads", str(arguments.threads),
                     *options])
        peer = Peer(folder)
        times = {"ours": [], "masked": [], "unmasked": []}
        for index in range(arguments.rounds + 1):
            measured = {"ours": ours.round(), "masked": peer.round(True), "unmasked": peer.round(False)}
            for name, (seconds, size) in measured.items():
                if abs(size - measured["ours"][1]) > SAME:
                    raise SystemExit(f"{name} computes something else: {size} and {measured['ours'][1]}")
                if index > 0:
                    times[name].append(seconds)
            print("  ".join(f"{name} {seconds:.3f} s" for name, (seconds, _) in measured.items()), flush=True)
        line = ours.end()
    fastest = min(("masked", "unmasked"), key=lambda name: statistics.median(times[name]))
    print(json.dumps({
        "bench": "encoder", **figures(line["tokens"], times["ours"], times[fastest]),
        "preset": line["preset"], "threads": arguments.threads, "tokens": line["tokens"],
        "padded_tokens": line["padded_tokens"],
        "peer_name": f"transformers {transformers.__version__}, torch {torch.__version__}, {fastest}"}))


if __name__ == "__main__":
    main()
