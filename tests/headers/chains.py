#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Divides the headers of the product into the sources that show that each header includes what it uses.

A source includes a chain of headers, each of which includes the one before it, itself or through others of ours. So each
header is compiled with nothing before it but what it includes anyway, as if it were alone, and far fewer sources are
needed than there are headers.

Headers of other libraries that are expensive to read are precompiled for the headers that include them, themselves or
through others of ours, and for no others. A chain has headers of one such set.

    chains.py --tree TREE --output FOLDER --folders actor lib ... --expensive nlohmann/json.hpp ...

It writes the sources into the folder, and prints a line for each: its path, and the expensive headers, divided by commas.
"""
import argparse
import pathlib
import re
import sys

INCLUDE = re.compile(r'^#include [<"](.*)[>"]', re.MULTILINE)


class Headers:
    """The headers below some folders of a tree, by their paths, and what they include."""

    def __init__(self, tree, folders, expensive):
        self.paths = sorted(
            str(path.relative_to(tree)) for folder in folders for path in (tree / folder).rglob("*.h"))
        known = set(self.paths)
        self._included = {}
        self._expensive = {}
        for path in self.paths:
            names = INCLUDE.findall((tree / path).read_text(encoding="utf-8"))
            self._included[path] = {own for name in names for own in (name, "lib/" + name) if own in known}
            self._expensive[path] = {name for name in names if name in expensive}
        self._reached = {}
        for path in self.paths:
            if path in self.reached(path):
                raise SystemExit(f"{path} includes itself, through others of ours")

    def reached(self, path):
        """All headers of ours that a header includes, itself or through others."""
        if path not in self._reached:
            self._reached[path] = set()  # A circle of headers ends here, and its first one reaches itself.
            for included in self._included[path]:
                self._reached[path] |= {included} | self.reached(included)
        return self._reached[path]

    def expensive(self, path):
        """The expensive headers that a header includes, itself or through others."""
        return frozenset().union(*(self._expensive[one] for one in {path} | self.reached(path)))


def chains(headers):
    """Returns lists of headers, each of which reaches the one before it; together they are all headers, each once.

    There are as few as can be: a maximum matching of headers with those that come before them (Fulkerson, 1956).
    """
    candidates = {
        path: [one for one in sorted(headers.reached(path)) if headers.expensive(one) == headers.expensive(path)]
        for path in headers.paths
    }
    after = {}

    def match(path, seen):
        for one in candidates[path]:
            if one not in seen:
                seen.add(one)
                if one not in after or match(after[one], seen):
                    after[one] = path
                    return True
        return False

    for path in headers.paths:
        match(path, set())
    before = {path: one for one, path in after.items()}
    found = []
    for last in headers.paths:
        if last in after:
            continue
        chain = [last]
        while chain[-1] in before:
            chain.append(before[chain[-1]])
        found.append(chain[::-1])
    return found


def write(source, text):
    """Leaves a file with the same text alone, so that it is not compiled again."""
    source.parent.mkdir(parents=True, exist_ok=True)
    if not source.exists() or source.read_text(encoding="utf-8") != text:
        source.write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--folders", nargs="+", required=True)
    parser.add_argument("--expensive", nargs="+", required=True)
    arguments = parser.parse_args()
    sys.setrecursionlimit(10_000)
    headers = Headers(arguments.tree, arguments.folders, arguments.expensive)
    for chain in chains(headers):
        source = arguments.output / (chain[-1] + ".cc")
        write(source, "".join(f'#include "{path.removeprefix("lib/")}"\n' for path in chain))
        expensive = headers.expensive(chain[-1])
        print(source, ",".join(one for one in arguments.expensive if one in expensive))


if __name__ == "__main__":
    main()
