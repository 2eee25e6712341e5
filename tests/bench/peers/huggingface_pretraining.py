# SPDX-License-Identifier: Apache-2.0
"""The peer of bench_pretraining: transformers with the same model, blocks, optimiser and threads, in turn with ours.

A step is forward, backward, clipping and torch's fused AdamW, as Trainer does it, without Trainer's own overhead. Both
sides start from the same weights and take the same steps, so their losses are compared, too.
huggingface_pretraining.sh starts this.
"""
import argparse
import json
import pathlib
import tempfile
import time

import torch
import transformers
from safetensors.torch import load_file

from rounds import Ours, figures

SAME = 1e-3
# Our values, from text/language/language_trainer.h.
CLIP, BETAS, DECAY = 1.0, (0.9, 0.95), 0.1


class Peer:
    def __init__(self, arguments, folder):
        self.device, self.bfloat16 = arguments.device, arguments.bfloat16
        self.model = transformers.GPT2LMHeadModel.from_pretrained(
            folder, attn_implementation="sdpa", resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0).train().to(self.device)
        decayed = [p for p in self.model.parameters() if p.dim() >= 2]
        plain = [p for p in self.model.parameters() if p.dim() < 2]
        self.optimizer = torch.optim.AdamW(
            [{"params": decayed, "weight_decay": DECAY}, {"params": plain, "weight_decay": 0.0}],
            lr=arguments.learning_rate, betas=BETAS, fused=True)
        self.batches = load_file(pathlib.Path(folder) / "batches.safetensors")["ids"].to(self.device)

    def round(self):
        """Runs a round and returns its seconds and the mean loss."""
        loss = 0
        start = time.perf_counter()
        for ids in self.batches:
            with torch.autocast(self.device, torch.bfloat16, enabled=self.bfloat16):
                step = self.model(ids, labels=ids, use_cache=False).loss
            step.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), CLIP)
            self.optimizer.step()
            self.optimizer.zero_grad()
            loss += step.item() / len(self.batches)
        return time.perf_counter() - start, loss


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bench", required=True)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--learning-rate", type=float, default=1e-4)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--bfloat16", action="store_true")
    arguments, options = parser.parse_known_args()
    torch.set_num_threads(arguments.threads)
    with tempfile.TemporaryDirectory() as folder:
        ours = Ours([arguments.bench, "--on-request", "--export", folder, "--threads", str(arguments.threads),
                     "--learning-rate", str(arguments.learning_rate), "--device", arguments.device,
                     *(["--bfloat16"] if arguments.bfloat16 else []), *options])
        peer = Peer(arguments, folder)
        times = {"ours": [], "peer": []}
        for index in range(arguments.rounds + 1):
            measured = {"ours": ours.round(), "peer": peer.round()}
            losses = [loss for _, loss in measured.values()]
            if abs(losses[0] - losses[1]) > (2e-2 if arguments.bfloat16 else SAME) * losses[0]:
                raise SystemExit(f"the peer learns something else: {losses}")
            if index > 0:
                for name, (seconds, _) in measured.items():
                    times[name].append(seconds)
            print("  ".join(f"{name} {seconds:.3f} s, loss {loss:.5f}" for name, (seconds, loss) in measured.items()),
                  flush=True)
        line = ours.end()
    print(json.dumps({
        "bench": "pretraining", **figures(line["tokens"], times["ours"], times["peer"]),
        **{name: line[name] for name in ("tflops", "mfu") if name in line},
        "preset": line["preset"], "device": arguments.device, "threads": arguments.threads, "tokens": line["tokens"],
        "peer_name": f"transformers {transformers.__version__}, torch {torch.__version__}"}))


if __name__ == "__main__":
    main()
