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
cd "$ROOT"
case "${1:-}" in
  --help | -h) sed -n '3,10s/^# \{0,1\}//p' "$0"; exit 0 ;;
esac
[ -x build/bin/bench_pretraining ] ||
  fail "no build/bin/bench_pretraining; type: cmake --build build --target bench_pretraining"
install_huggingface
exec .deps/huggingface/bin/python tests/bench/peers/huggingface_pretraining.py --bench build/bin/bench_pretraining "$@"
