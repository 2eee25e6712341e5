#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes lib/text/bpe/code_point_tables.cc: the classes and small letters that Hugging Face's tokenizers sees.

  .deps/tokenizers/bin/python lib/text/bpe/tool/code_point_tables.py >lib/text/bpe/code_point_tables.cc

Every code point is put before the library itself, so the tables agree with it on characters that are younger than what
this machine's own Unicode data knows. Environment: deploy/install.sh install_tokenizers.
"""
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers

LETTER, NUMBER, SPACE, WORD = 1, 2, 4, 8
CODE_POINTS = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]
STEP = 8192


def matched(pattern):
    """The code points that `pattern`, a class, matches."""
    split = pre_tokenizers.Split(Regex(pattern + "+"), "removed", invert=True)
    found = set()
    for start in range(0, len(CODE_POINTS), STEP):
        text = "".join(map(chr, CODE_POINTS[start : start + STEP]))
        for piece, _ in split.pre_tokenize_str(text):
            found.update(map(ord, piece))
    return found


def words():
    """The code points beside which a token that must be a single word is none."""
    tokenizer = Tokenizer(models.BPE(vocab={"a": 0}, merges=[]))
    tokenizer.add_tokens([AddedToken("Q", single_word=True, normalized=False)])
    token = tokenizer.token_to_id("Q")
    found = set()
    for start in range(0, len(CODE_POINTS), STEP):
        some = CODE_POINTS[start : start + STEP]
        for code_point, encoding in zip(some, tokenizer.encode_batch([chr(c) + "Q" for c in some])):
            if token not in encoding.ids:
                found.add(code_point)
    return found


def class_ranges():
    """(first, last, classes), in order, of the code points that have a class."""
    bits = {LETTER: matched(r"\p{L}"), NUMBER: matched(r"\p{N}"), SPACE: matched(r"\s"), WORD: words()}
    ranges = []
    for code_point in CODE_POINTS:
        classes = sum(bit for bit, members in bits.items() if code_point in members)
        if not classes:
            continue
        if ranges and ranges[-1][1] == code_point - 1 and ranges[-1][2] == classes:
            ranges[-1][1] = code_point
        else:
            ranges.append([code_point, code_point, classes])
    return ranges


def lowered_ranges():
    """(first, last, stride, difference) of the code points whose small letter is one other code point."""
    lowercase = normalizers.Lowercase()
    ranges = []
    for code_point in CODE_POINTS:
        small = lowercase.normalize_str(chr(code_point))
        if len(small) != 1 or ord(small) == code_point:
            continue
        difference = ord(small) - code_point
        if ranges and ranges[-1][3] == difference:
            first, last, stride, _ = ranges[-1]
            gap = code_point - last
            if gap == stride or (first == last and gap <= 2):
                ranges[-1][1:3] = [code_point, gap]
                continue
        ranges.append([code_point, code_point, 1, difference])
    return ranges


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
    small, previous = [], 0
    for first, last, stride, difference in lowered_ranges():
        small += [first - previous, last - first, stride, difference]
        previous = last
    print("// SPDX-License-Identifier: Apache-2.0")
    print("// Made by lib/text/bpe/tool/code_point_tables.py; see code_point_tables.h.")
    print('#include "text/bpe/code_point_tables.h"\n\nnamespace shoal::tokens {\nnamespace {\n')
    print("// clang-format off")
    print(f"constexpr std::int32_t kClasses[] = {{\n{rows(classes)}\n}};\n")
    print(f"constexpr std::int32_t kLowered[] = {{\n{rows(small)}\n}};")
    print("// clang-format on\n\n}  // namespace\n")
    print("std::span<const std::int32_t> ClassRanges() { return kClasses; }\n")
    print("std::span<const std::int32_t> LoweredRanges() { return kLowered; }\n")
    print("}  // namespace shoal::tokens")


if __name__ == "__main__":
    main()
