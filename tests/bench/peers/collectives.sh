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
compare_with_peer huggingface bench_collectives gloo_collectives.py "$@"
