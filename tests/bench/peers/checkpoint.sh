#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares checkpoints of a learner with torch.save and torch.distributed.checkpoint: the same number of bytes, on the
# same disk, in turn, round by round.
#
#   tests/bench/peers/checkpoint.sh [--megabytes 500] [--rounds 5] [--directory build/checkpoints]
#
# Installs torch with what it needs to be imported (5 GB, once) into .deps/huggingface. Each comparison prints one JSON
# line: {"bench":…,"ours":…,"peer":…,"ratio":…,…} in milliseconds; the ratio is how many times as fast ours is.
set -euo pipefail
ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)"
# shellcheck source=deploy/install.sh
source "$ROOT/deploy/install.sh"
compare_with_peer huggingface bench_checkpoint torch_checkpoint.py "$@"
