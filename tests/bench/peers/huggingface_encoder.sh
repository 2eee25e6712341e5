#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares hidden states of real captured texts of unequal lengths, ours and those of transformers: the same model,
# batches and number of threads, in turn, round by round.
#
#   tests/bench/peers/huggingface_encoder.sh [--preset tiny|small|...] [--texts 256] [--batch 32] [--threads 2] [--rounds 7]
#
# Installs transformers and torch (5 GB, once) into .deps/huggingface. The last line is one JSON object:
# {"bench":"encoder","ours":…,"peer":…,"ratio":…,…} in tokens per second.
set -euo pipefail
ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)"
# shellcheck source=deploy/install.sh
source "$ROOT/deploy/install.sh"
compare_with_peer huggingface bench_encoder huggingface_encoder.py "$@"
