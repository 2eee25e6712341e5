#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes word_piece.tar.xz: texts and their ids by Hugging Face's BERT tokenizers.

  .deps/tokenizers/bin/python tests/golden/word_piece_golden.py [--model .deps/minilm] [--only-compare PROGRAM]

tests/text/wordpiece/word_piece_golden_test.cc reads the archive, which holds:
  texts        all texts, all of them UTF-8: a 32-bit size each (little endian), then its bytes
  NAME.json    tokenizers: uncased and cased, which Hugging Face trained on the texts, the second with other steps
  NAME.ids     for every text: a 32-bit count, then that many 32-bit ids, [CLS] and [SEP] among them, 256 at most
  minilm.ids   the same by the tokenizer of --model, all-MiniLM-L6-v2, which the archive does not hold

With --only-compare nothing is written: many more texts, drawn anew, are put before `word_piece_driver`, a program of
the tests, and its ids are compared with those of --model.
"""
import argparse
import io
import lzma
import random
import struct
import subprocess
import sys
import tarfile
from pathlib import Path

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

from tokenizer_golden import classes, is_text, numbers, stretch, texts

ROOT = Path(__file__).resolve().parents[2]
MAXIMUM = 256
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]

BY_HAND = [
    "[CLS] a [SEP] b[MASK]c [PAD][UNK] [sep] [ CLS ]", "x" * 99, "x" * 100, "x" * 101, "\u00e9" * 100, "\u00e9" * 101,
    "e\u0301" * 100, "e\u0301" * 101, "Ångström naïve Zoë ﬁ ﬂ ß ẞ İstanbul ıI ΑΣ Σ ς ǅ", "\ufb2a\u0344\u0958 \u2126\u212b\uf900",
    "\uac00\uac01\ud7a3 \u1100\u1161", "\u4e2d\u6587and\u65e5\u672c \u3400\U00020000\U0002f800\uf900 \u3042\u30a2",
    "a\x00b\x01c\td\ne\rf\x0bg\x0ch\x1ci\x85j\u200bk\ufeffl\u2028m\ufffdn\ue000o\u00adp", "don't stop-it_now $5 ~`^+=<>|",
    "\u00bf\u00a1\u2026\u2014\u300c\u300d\uff0c\U00010100\u055a\u00b6\u00a7\u00a9\u20ac", '{"BootSourceOverrideTarget":"Pxe"}',
    "set Boot Source Override Target to Pxe of Computer System",
]


def long_texts(draw):
    words = "boot source override target computer system 0x1F naïve 中文 x-y_z".split(" ")
    return [" ".join(draw.choice(words) for _ in range(size)) for size in (120, 253, 254, 255, 256, 400, 900)]


def words_of_classes(draw, count):
    """Texts of random characters: few of any one kind, so that neighbours of all kinds meet."""
    by_class = classes()
    names = sorted(by_class)
    for _ in range(count):
        text = ""
        for _ in range(draw.randint(1, 12)):
            kind = draw.choice(names + ["ascii"] * 4)
            text += stretch(draw, "abcXYZ019_-/.,:;'\"[] \t", 1, 6) if kind == "ascii" else stretch(draw, by_class[kind], 1, 3)
        yield text


def trained(corpus, normalizer):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.train_from_iterator(corpus, trainers.WordPieceTrainer(vocab_size=2500, special_tokens=SPECIAL,
                                                                    limit_alphabet=1200, show_progress=False))
    begin, end = (tokenizer.token_to_id(name) for name in ("[CLS]", "[SEP]"))
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]",
                                                             special_tokens=[("[CLS]", begin), ("[SEP]", end)])
    return tokenizer


def ids(tokenizer, asked):
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAXIMUM)
    return b"".join(numbers(encoding.ids) for encoding in tokenizer.encode_batch(asked))


def packed_texts(asked):
    return b"".join(struct.pack("<I", len(text.encode())) + text.encode() for text in asked)


def compare(model, driver):
    draw = random.Random()
    asked = BY_HAND + long_texts(draw) + [text.decode() for text in texts(draw) if is_text(text)]
    asked += words_of_classes(draw, 60000)
    theirs = ids(Tokenizer.from_file(str(model / "tokenizer.json")), asked)
    ours = subprocess.run([driver, model], input=packed_texts(asked), capture_output=True, check=True).stdout
    print(f"{len(asked)} texts, {len(theirs) // 4 - len(asked)} ids: {'equal' if ours == theirs else 'DIFFERENT'}")
    sys.exit(0 if ours == theirs else 1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default=ROOT / ".deps/minilm", type=Path)
    parser.add_argument("--output", default=ROOT / "tests/golden/word_piece.tar.xz", type=Path)
    parser.add_argument("--only-compare", type=Path)
    arguments = parser.parse_args()
    if arguments.only_compare:
        compare(arguments.model, arguments.only_compare)
    draw = random.Random(7)
    asked = BY_HAND + long_texts(draw) + [text.decode() for text in texts(draw) if is_text(text) and len(text) < 3000]
    asked += words_of_classes(draw, 800)
    corpus = [text for text in asked if len(text) < 1000]
    tokenizers = {
        "uncased": trained(corpus, normalizers.BertNormalizer()),
        "cased": trained(corpus, normalizers.BertNormalizer(clean_text=False, handle_chinese_chars=False,
                                                            strip_accents=None, lowercase=False))}
    files = {"texts": packed_texts(asked)}
    for name, tokenizer in tokenizers.items():
        files[f"{name}.json"] = tokenizer.to_str().encode()
        files[f"{name}.ids"] = ids(tokenizer, asked)
    files["minilm.ids"] = ids(Tokenizer.from_file(str(arguments.model / "tokenizer.json")), asked)
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, data in sorted(files.items()):
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    arguments.output.write_bytes(lzma.compress(packed.getvalue(), preset=9 | lzma.PRESET_EXTREME))
    print(f"{len(asked)} texts; {arguments.output.stat().st_size} bytes")


if __name__ == "__main__":
    main()
