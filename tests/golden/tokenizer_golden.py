#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes tokenizer.tar.xz: texts and their ids by Hugging Face's tokenizers.

  .deps/tokenizers/bin/python tests/golden/tokenizer_golden.py [--encoder build/bin/encoder]

tests/text/bpe/tokenizer_golden_test.cc reads the archive, which holds:
  texts            all texts: a 32-bit size each (little endian), then its bytes
  corpus           the one text that the trained tokenizers were trained on
  NAME.json        tokenizers; gpt2 is the pair in data/gpt2 and has none
  NAME.ids         for every text in UTF-8: a 32-bit count, then that many 32-bit ids
  gpt2.other.ids   the same for every other text

`encoder tokenizer train` makes the tokenizers trained and normalized, which Hugging Face reads. Hugging Face makes
theirs (by its BpeTrainer on the corpus), prefixed, split and flagged, which we read. Hugging Face takes only UTF-8. For
other texts it is asked how it splits the text with U+FFFD for each stray byte, and for the ids of each piece's bytes.
"""
import argparse
import io
import json
import lzma
import random
import struct
import subprocess
import tarfile
import tempfile
import unicodedata
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

ROOT = Path(__file__).resolve().parents[2]
CAPTURES = ["dell-r750", "hpe-dl380a-gen12", "openbmc-stock", "dmtf-rackmount1", "dmtf-telemetry"]
VOCABULARY = 1500
# The split of common tokenizers of 2023 and later, in terms that all regular expression engines read alike.
SPLIT = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"

BY_HAND = """
Hello, world!|I'm he's they've we'll you'd it'S 'Tis don''t ''s 's's|  two  spaces |\t\ttabs\t and\r\n\r\nlines\n\n\n
AssetTag IndicatorLED HTTPPort x509Certificate v1_13_0 UUID|a\u00a0b\u2003c\u3000d\u180ee\u200bf\ufeffg\x85h\u2028i
\u0661\u0662\u0663 \u2167 \u00bd x\u00b2 \u2460 \u09ea\u09eb \u4e00\u4e8c\u4e09|\u0131 \u0130 \u1e9e \u00df \u03a3\u03c2\u03c3 \u01c5
\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466 \U0001f3f3\ufe0f\u200d\U0001f308 \U0001f1e9\U0001f1ea 1\ufe0f\u20e3 \U0001f44d\U0001f3fd
\u4f60\u597d\uff0c\u4e16\u754c\u3002 \u3053\u3093\u306b\u3061\u306f \uc548\ub155 \ud7a3|\u0645\u0631\u062d\u0628\u0627 \u0628\u0643 \u05e9\u05dc\u05d5\u05dd|\u0928\u092e\u0938\u094d\u0924\u0947
Z\u0351\u036b\u0343\u036a\u0302\u036b\u033d\u034f\u0334\u0319\u0324\u031e\u0349\u035a\u032f\u031e\u0320\u034d|\u00e9 e\u0301 \ufb01 \U00020000\U0002ebf0\U000323af
\x00\x01\x02\x1f\x7f|<|endoftext|> <|endoftext|><|endoftext|>|\ufffd\ufffe\uffff\U0010ffff|{"@odata.id":"/redfish/v1/Systems/1"}
"""


def stretch(draw, characters, low, high):
    return "".join(draw.choice(characters) for _ in range(draw.randint(low, high)))


def classes():
    """Returns code points by what a tokenizer sees in them."""
    found = {}
    for code_point in range(0x110000):
        if 0xD800 <= code_point <= 0xDFFF:
            continue
        found.setdefault(unicodedata.category(chr(code_point))[0], []).append(chr(code_point))
    return found


def resources():
    """Returns the bodies of captured resources."""
    bodies = []
    for name in CAPTURES:
        with tarfile.open(ROOT / f"data/captures/{name}.tar.xz") as archive:
            # This reads in the archive's order, since seeking backwards is slow.
            bodies += [archive.extractfile(member).read() for member in archive if member.name.endswith("/index.json")]
    return bodies


def texts(draw):
    """Returns texts as bytes, with every kind of text that may go wrong."""
    found = [part.encode() for line in BY_HAND.strip("\n").split("\n") for part in [line, *line.split("|")]]
    found.append(b"")
    found += [bytes([byte]) for byte in range(256)]
    by_class = classes()
    names = sorted(by_class)
    # These are words of random classes.
    for _ in range(2000):
        text = ""
        for _ in range(draw.randint(1, 8)):
            kind = draw.choice(["L", "N", "Z", "P", "S", "M", "C", "ascii", "space", "quote"])
            if kind == "ascii":
                text += stretch(draw, "abcXYZ019_-/.,:;'\" ", 1, 8)
            elif kind == "space":
                text += stretch(draw, " \t\n\r\u00a0\u3000", 1, 4)
            elif kind == "quote":
                text += draw.choice(["'s", "'t", "'re", "'ve", "'m", "'ll", "'d", "'S", "'", "''", " '"])
            else:
                text += stretch(draw, by_class[kind], 1, 4)
        found.append(text.encode())
    # These cover all of Unicode evenly.
    for start in range(0, 0x110000, 0x110000 // 900):
        some = [c for c in range(start, min(start + 7, 0x110000)) if not 0xD800 <= c <= 0xDFFF]
        found.append("".join(f"a{chr(c)}1 {chr(c)}" for c in some).encode())
    for name in names:
        for _ in range(40):
            found.append(" ".join(stretch(draw, by_class[name], 1, 3) for _ in range(5)).encode())
    # These are long runs of one character.
    for unit in [" ", "  x", "a", "aB", "0", "07", "\n", "\t ", "-", "=", "'", "\u00e9", "\u4e2d", "\U0001f600", "\x00", " \n"]:
        for size in [1, 2, 3, 7, 16, 31, 32, 33, 34, 63, 64, 65, 127, 255, 400]:
            found.append((unit * size).encode())
            found.append(("x" + unit * size + "y").encode())
    found.append(b"a" * 4000 + b" " * 4000 + b"1" * 2000)
    # These are texts of services.
    bodies = resources()
    for body in draw.sample(bodies, 12):
        found.append(body[:6000].decode().encode())
    for _ in range(1300):
        body = draw.choice(bodies).decode()
        if draw.random() < 0.7:
            body = json.dumps(json.loads(body), separators=(",", ":"), ensure_ascii=False)
        start = draw.randrange(len(body))
        found.append(body[start : start + draw.randint(20, 200)].encode())
    # These are invalid bytes, alone and within text.
    for _ in range(350):
        found.append(bytes(draw.randrange(256) for _ in range(draw.randint(2, 30))))
    for _ in range(350):
        text = bytearray(draw.choice(found))[:120]
        for _ in range(draw.randint(1, 4)):
            text.insert(draw.randint(0, len(text)), draw.choice([0x80, 0xBF, 0xC0, 0xC3, 0xE2, 0xED, 0xF0, 0xF4, 0xFF]))
        found.append(bytes(text))
    return found


def is_text(data):
    try:
        data.decode()
        return True
    except UnicodeDecodeError:
        return False


def characters(data):
    """Yields (character, bytes) one after the other; a stray byte is U+FFFD."""
    at = 0
    while at < len(data):
        for size in range(1, 5):
            piece = data[at : at + size]
            if len(piece) == size and is_text(piece):
                break
        else:
            piece = None
        if piece is None:
            yield "\ufffd", data[at : at + 1]
            at += 1
        else:
            yield piece.decode(), piece
            at += len(piece)


def alphabet():
    printed = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printed]
    return {**{b: chr(b) for b in printed}, **{b: chr(0x100 + i) for i, b in enumerate(others)}}


def ids_of_bytes(tokenizer, data, letters):
    pairs = list(characters(data))
    ids = []
    for _, (begin, end) in tokenizer.pre_tokenizer.pre_tokenize_str("".join(c for c, _ in pairs)):
        piece = b"".join(raw for _, raw in pairs[begin:end])
        ids += [token.id for token in tokenizer.model.tokenize("".join(letters[byte] for byte in piece))]
    return ids


def gpt2():
    folder = ROOT / "data/gpt2"
    tokenizer = Tokenizer(models.BPE.from_file(str(folder / "encoder.json"), str(folder / "vocab.bpe")))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<|endoftext|>"])
    return tokenizer


def theirs(corpus):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=VOCABULARY, min_frequency=2, special_tokens=["<|endoftext|>"],
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False)
    tokenizer.train_from_iterator([corpus], trainer)
    return tokenizer


def copy(tokenizer):
    return Tokenizer.from_str(tokenizer.to_str())


def prefixed(base):
    tokenizer = copy(base)
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True, use_regex=False)
    return tokenizer


def split(base):
    document = json.loads(base.to_str())
    document["model"]["ignore_merges"] = True
    # This word is not the result of any merge.
    document["model"]["vocab"]["\u0120Systems"] = len(document["model"]["vocab"])
    document["model"]["merges"] = [" ".join(pair) for pair in document["model"]["merges"]]
    document["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [
        {"type": "Split", "pattern": {"Regex": SPLIT}, "behavior": "Removed", "invert": True},
        {"type": "Split", "pattern": {"String": "/v1"}, "behavior": "Isolated", "invert": False},
        {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}]}
    return json.dumps(document, ensure_ascii=False)


def flagged(base):
    tokenizer = copy(base)
    tokenizer.normalizer = normalizers.Sequence([normalizers.Replace("://", " at "), normalizers.Lowercase(),
                                                 normalizers.Replace(Regex(r"\s{2,}"), " ")])
    tokenizer.add_tokens([
        AddedToken("/redfish/v1", normalized=False), AddedToken("/redfish/v1/Systems", normalized=False),
        AddedToken("/redfish/v1/systems/1", single_word=True), AddedToken("Oem", single_word=True, normalized=False),
        AddedToken('":"', normalized=False), AddedToken('","', lstrip=True), AddedToken("\u00e9", normalized=False),
        AddedToken("a", rstrip=True, single_word=True), AddedToken("ENABLED"), AddedToken("\n", rstrip=True),
        AddedToken("  x", normalized=False)])
    return tokenizer


def numbers(values):
    return struct.pack(f"<{len(values) + 1}I", len(values), *values)


def train(encoder, folder, name, flags):
    output = folder / f"{name}.json"
    subprocess.run([encoder, "tokenizer", "train", "--texts", folder / "corpus", "--vocabulary-size", str(VOCABULARY),
                    "--output", output, *flags], check=True, stdout=subprocess.DEVNULL)
    return output.read_text()


def old(text):
    """Checks that PCRE2 knows the Unicode version of every character."""
    return all(unicodedata.category(c) != "Cn" for c in text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--encoder", default="build/bin/encoder")
    parser.add_argument("--output", default=ROOT / "tests/golden/tokenizer.tar.xz", type=Path)
    arguments = parser.parse_args()
    draw = random.Random(6)
    everything = texts(draw)
    good = [data for data in everything if is_text(data)]
    corpus = "\n".join(text.decode() for text in good if len(text) < 1000)
    letters = alphabet()
    files = {"corpus": corpus.encode(), "texts": b"".join(struct.pack("<I", len(d)) + d for d in everything)}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "corpus").write_bytes(files["corpus"])
        base = theirs(corpus)
        tokenizers = {
            "trained": train(arguments.encoder, folder, "trained", []),
            "normalized": train(arguments.encoder, folder, "normalized", ["--split-camel-case", "--lower-case"]),
            "theirs": base.to_str(), "prefixed": prefixed(base).to_str(), "split": split(base),
            "flagged": flagged(base).to_str()}
    ours, peer = json.loads(tokenizers["trained"])["model"], json.loads(tokenizers["theirs"])["model"]
    assert ours["vocab"] == peer["vocab"] and ours["merges"] == peer["merges"], "training differs"
    for name, document in {"gpt2": None, **tokenizers}.items():
        tokenizer = gpt2() if document is None else Tokenizer.from_str(document)
        assert document is not None or tokenizer.encode("Hello, world!").ids == [15496, 11, 995, 0]
        asked = [data.decode() for data in good]
        if name == "split":
            asked = [text if old(text) else "" for text in asked]
        encodings = tokenizer.encode_batch(asked)
        files[f"{name}.ids"] = b"".join(numbers(encoding.ids) for encoding in encodings)
        if document is None:
            bad = [data for data in everything if not is_text(data)]
            files["gpt2.other.ids"] = b"".join(numbers(ids_of_bytes(tokenizer, data, letters)) for data in bad)
            assert all(ids_of_bytes(tokenizer, text.encode(), letters) == encoding.ids
                       for text, encoding in zip(asked, encodings) if "<|endoftext|>" not in text)
        else:
            files[f"{name}.json"] = document.encode()
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, data in sorted(files.items()):
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    arguments.output.write_bytes(lzma.compress(packed.getvalue(), preset=9 | lzma.PRESET_EXTREME))
    print(f"{len(everything)} texts, {len(everything) - len(good)} of them no UTF-8; {arguments.output.stat().st_size} bytes")


if __name__ == "__main__":
    main()
