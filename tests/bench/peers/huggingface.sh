#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares our language tools with Hugging Face's, in turn in one run, with one thread each on the same processor.
#
#   tests/bench/peers/huggingface.sh [--rounds 7] [--seconds 1] [tokenizer] [encoder]
#
# tokenizer: megabytes per second from texts of captures to GPT-2's ids, for long and short texts; both must count equal
# ids. encoder: tokens per second of GPT-2's hidden states (huggingface_encoder.sh, which fetches 5 GB once).
# Fetches the peer from PyPI into .deps if it is missing. Without a name all benches run. Each ends with one JSON line:
# {"bench":…,"ours":…,"peer":…,"ratio":…,…}.
set -euo pipefail
ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)"
# shellcheck source=deploy/install.sh
source "$ROOT/deploy/install.sh"
cd "$ROOT"

rounds=7 seconds=1 benches=()
while [ $# -gt 0 ]; do
  case "$1" in
    --help | -h) sed -n '3,10s/^# \{0,1\}//p' "$0"; exit 0 ;;
    --rounds) rounds="${2:?}"; shift 2 ;;
    --seconds) seconds="${2:?}"; shift 2 ;;
    tokenizer | encoder) benches+=("$1"); shift ;;
    *) fail "no bench $1; type: $0 --help" ;;
  esac
done
[ "${#benches[@]}" -gt 0 ] || benches=(tokenizer encoder)

python="$ROOT/.deps/tokenizers/bin/python"
peers="$ROOT/tests/bench/peers"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT

one_thread() {
  local processor=()
  if [ "$(nproc)" -gt 1 ]; then processor=(taskset -c 0); fi
  TOKENIZERS_PARALLELISM=false RAYON_NUM_THREADS=1 OMP_NUM_THREADS=1 "${processor[@]}" "$@"
}

bench_tokenizer() {
  install_tokenizers
  need_bench bench_tokenizer
  local round
  build/bin/bench_tokenizer --write-texts "$folder"
  for round in $(seq "$rounds"); do
    one_thread build/bin/bench_tokenizer --seconds "$seconds" | tee -a "$folder/tokenizer" >&2
    one_thread "$python" "$peers/huggingface_tokenizer.py" "$folder" --seconds "$seconds" | tee -a "$folder/tokenizer" >&2
  done
  "$python" "$peers/compare.py" tokenizer "$folder/tokenizer" long_mb_per_s short_mb_per_s
}

bench_encoder() { "$peers/huggingface_encoder.sh" --rounds "$rounds"; }

for bench in "${benches[@]}"; do "bench_$bench"; done
