#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares sums of gradients over ranks with those of torch.distributed over gloo: processes of this machine over loopback,
# in turn, round by round.
#
#   tests/bench/peers/collectives.sh [--ranks 2 4] [--megabytes 1 10 100] [--rounds 7]
#
# Installs torch with what it needs to be imported (5 GB, once) into .deps/huggingface. Each number of ranks and size
# prints one JSON line: {"bench":…,"ours":…,"peer":…,"ratio":…,…} in milliseconds; the ratio is how many times as fast
# ours is.
set -euo pipefail
ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)"
# shellcheck source=deploy/install.sh
source "$ROOT/deploy/install.sh"
cd "$ROOT"
case "${1:-}" in
  --help | -h) sed -n '3,10s/^# \{0,1\}//p' "$0"; exit 0 ;;
esac
[ -x build/bin/bench_collectives ] ||
  fail "no build/bin/bench_collectives; type: cmake --build build --target bench_collectives"
install_huggingface
exec .deps/huggingface/bin/python tests/bench/peers/gloo_collectives.py --bench build/bin/bench_collectives "$@"
