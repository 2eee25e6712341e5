#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares training steps of the language model on real captured texts, ours and those of transformers: the same model,
# blocks, optimiser and number of threads, in turn, round by round.
#
#   tests/bench/peers/huggingface_pretraining.sh [--preset tiny|small|...] [--block 256] [--batch 32] [--batches 4]
#                                                [--threads 2] [--rounds 7] [--device cpu|cuda] [--bfloat16]
#
# Installs transformers and torch (5 GB, once) into .deps/huggingface. The last line is one JSON object:
# {"bench":"pretraining","ours":…,"peer":…,"ratio":…,…} in tokens per second.
set -euo pipefail
ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)"
# shellcheck source=deploy/install.sh
source "$ROOT/deploy/install.sh"
compare_with_peer huggingface bench_pretraining huggingface_pretraining.py "$@"
