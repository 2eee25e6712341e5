# SPDX-License-Identifier: Apache-2.0
"""Our GPT-2 and that of transformers read each other's files, for the presets tiny and small.

    tests/text/language/huggingface_test.sh build/bin/gpt2_driver
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

import torch
from safetensors.torch import load_file, save_file
from transformers import GPT2Config, GPT2LMHeadModel

DRIVER = sys.argv.pop(1)
TOLERANCE = 1e-4
LENGTHS = (30, 1, 100, 64)
NEW_TOKENS = 24
PRESETS = {
    "tiny": dict(vocab_size=8000, n_embd=128, n_layer=4, n_head=4, bos_token_id=0, eos_token_id=0),
    "small": dict(),
}


def drive(*arguments):
    done = subprocess.run([DRIVER, *map(str, arguments)], capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return done.stdout


def random_model(preset):
    torch.manual_seed(3)
    model = GPT2LMHeadModel(GPT2Config(**PRESETS[preset])).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() == 1:
                parameter.add_(0.1 * torch.randn_like(parameter))
    return model


def batch(vocabulary):
    torch.manual_seed(4)
    sequences = [torch.randint(vocabulary, (length,)) for length in LENGTHS]
    starts = torch.tensor([0] + [sequence.numel() for sequence in sequences]).cumsum(0)
    return sequences, {"ids": torch.cat(sequences), "starts": starts}


class TransformersTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def compare(self, model, folder):
        sequences, packed = batch(model.config.vocab_size)
        save_file(packed, self.folder / "batch")
        drive("logits", folder, self.folder / "batch", self.folder / "logits")
        ours = load_file(self.folder / "logits")["logits"]
        with torch.no_grad():
            theirs = torch.cat([model(ids.unsqueeze(0)).logits[0] for ids in sequences])
        self.assertEqual(ours.shape, theirs.shape)
        difference = (ours - theirs).abs().max().item()
        print(f"{self.id()}: greatest difference {difference:.2e}, greatest logit {theirs.abs().max().item():.1f}")
        self.assertGreater(theirs.abs().max().item(), 0.5)
        self.assertLess(difference, TOLERANCE)

    def test_logits_of_a_file_that_transformers_wrote(self):
        for preset in PRESETS:
            with self.subTest(preset):
                model = random_model(preset)
                model.save_pretrained(self.folder / preset)
                self.compare(model, self.folder / preset)

    def test_logits_of_a_file_that_we_wrote(self):
        for preset in PRESETS:
            with self.subTest(preset):
                drive("init", preset, 7, self.folder / preset)
                model, loading = GPT2LMHeadModel.from_pretrained(self.folder / preset, output_loading_info=True)
                self.assertFalse(loading["unexpected_keys"])
                self.assertFalse(set(loading["missing_keys"]) - {"lm_head.weight"})
                self.assertFalse(loading["mismatched_keys"])
                self.assertEqual(model.lm_head.weight.data_ptr(), model.transformer.wte.weight.data_ptr())
                self.compare(model.eval(), self.folder / preset)

    def test_weights_are_the_same_bits_after_both_have_read_and_written_them(self):
        model = random_model("tiny")
        model.save_pretrained(self.folder / "theirs")
        drive("copy", self.folder / "theirs", self.folder / "ours")
        again = GPT2LMHeadModel.from_pretrained(self.folder / "ours")
        for (name, before), (_, after) in zip(model.named_parameters(), again.named_parameters()):
            self.assertTrue(torch.equal(before, after), name)

    def test_greedy_generation_token_by_token(self):
        for preset in PRESETS:
            with self.subTest(preset):
                model = random_model(preset)
                model.save_pretrained(self.folder / preset)
                prompt = torch.randint(model.config.vocab_size, (12,)).tolist()
                theirs = model.generate(torch.tensor([prompt]), do_sample=False, min_new_tokens=NEW_TOKENS,
                                        max_new_tokens=NEW_TOKENS, pad_token_id=0, eos_token_id=None)[0].tolist()
                ours = drive("generate", self.folder / preset, NEW_TOKENS, *prompt).split()
                self.assertEqual(theirs[len(prompt):], [int(token) for token in ours])


if __name__ == "__main__":
    unittest.main()
