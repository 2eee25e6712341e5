#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes lib/text/wordpiece/bert_character_tables.cc: what Hugging Face's BERT tokenizers see in each code point.

  .deps/tokenizers/bin/python lib/text/wordpiece/tool/bert_character_tables.py \
      >lib/text/wordpiece/bert_character_tables.cc

Every code point is put before the library itself, since its Unicode data is older than this machine's. The last check
makes sure that a text without accents is the texts of its code points one after the other. Environment:
deploy/install.sh install_tokenizers.
"""
import random

from tokenizers import normalizers, pre_tokenizers

DROPPED, SPACE, IDEOGRAPH, PUNCTUATION = 1, 2, 4, 8
CODE_POINTS = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]
HANGUL = range(0xAC00, 0xD7A4)


def step(**on):
    """The function that applies the named steps of a BertNormalizer."""
    off = {"clean_text": False, "handle_chinese_chars": False, "strip_accents": False, "lowercase": False}
    return normalizers.BertNormalizer(**{**off, **on}).normalize_str


def classes_of(character):
    cleaned = step(clean_text=True)(f"a{character}b")
    pieces = [piece for piece, _ in pre_tokenizers.BertPreTokenizer().pre_tokenize_str(f"a{character}b")]
    classes = 0
    if cleaned == "ab":
        classes |= DROPPED
    if pieces == ["a", "b"]:
        classes |= SPACE
    assert (cleaned == "a b") == (classes & (DROPPED | SPACE) == SPACE), character
    if step(handle_chinese_chars=True)(character) != character:
        classes |= IDEOGRAPH
    if pieces == ["a", character, "b"]:
        classes |= PUNCTUATION
    return classes


def class_ranges():
    """(first, last, classes), in order, of the code points that have a class."""
    ranges = []
    for code_point in CODE_POINTS:
        classes = classes_of(chr(code_point))
        if not classes:
            continue
        if ranges and ranges[-1][1] == code_point - 1 and ranges[-1][2] == classes:
            ranges[-1][1] = code_point
        else:
            ranges.append([code_point, code_point, classes])
    return ranges


def hangul(code_point):
    """A syllable's parts, as the Unicode Standard's chapter 3.12 computes them."""
    index = code_point - HANGUL.start
    parts = [0x1100 + index // 588, 0x1161 + index % 588 // 28]
    return parts + ([0x11A7 + index % 28] if index % 28 else [])


def without_accents():
    """(code point, what is left of it), in order, of the code points that change, Hangul syllables left out."""
    strip = step(strip_accents=True)
    found = []
    for code_point in CODE_POINTS:
        left = [ord(c) for c in strip(chr(code_point))]
        if code_point in HANGUL:
            assert left == hangul(code_point)
        elif left != [code_point]:
            found.append((code_point, left))
    changed = dict(found)
    draw = random.Random(1)
    for _ in range(20000):
        text = [draw.choice(found)[0] if draw.random() < 0.5 else draw.choice(CODE_POINTS) for _ in range(6)]
        expected = [c for code_point in text for c in
                    (hangul(code_point) if code_point in HANGUL else changed.get(code_point, [code_point]))]
        # Only the order of what is left may differ: marks with a width of their own.
        assert sorted(expected) == sorted(map(ord, strip("".join(map(chr, text)))))
    return found


def rows(numbers):
    lines, line = [], "   "
    for number in numbers:
        if len(line) + len(f" {number},") > 100:
            lines.append(line)
            line = "   "
        line += f" {number},"
    return "\n".join(lines + [line])


def main():
    classes, previous = [], 0
    for first, last, bits in class_ranges():
        classes += [first - previous, last - first, bits]
        previous = last
    stripped, previous = [], 0
    entries = without_accents()
    at = 0
    while at < len(entries):
        first, left = entries[at]
        last = first
        # Marks that vanish come in runs.
        while not left and at + 1 < len(entries) and entries[at + 1] == (last + 1, []):
            at += 1
            last += 1
        stripped += [first - previous, last - first, len(left), *left]
        previous = last
        at += 1
    print("// SPDX-License-Identifier: Apache-2.0")
    print("// Made by lib/text/wordpiece/tool/bert_character_tables.py; see bert_character_tables.h.")
    print('#include "text/wordpiece/bert_character_tables.h"\n\nnamespace shoal::tokens {\nnamespace {\n')
    print("// clang-format off")
    print(f"constexpr std::int32_t kBertClasses[] = {{\n{rows(classes)}\n}};\n")
    print(f"constexpr std::int32_t kWithoutAccents[] = {{\n{rows(stripped)}\n}};")
    print("// clang-format on\n\n}  // namespace\n")
    print("std::span<const std::int32_t> BertClassRanges() { return kBertClasses; }\n")
    print("std::span<const std::int32_t> AccentRanges() { return kWithoutAccents; }\n")
    print("}  // namespace shoal::tokens")


if __name__ == "__main__":
    main()
