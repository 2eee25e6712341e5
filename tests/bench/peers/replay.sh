#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares replay with dm-reverb: items inserted and sampled per second on one host, in turn, round by round.
#
#   tests/bench/peers/replay.sh [--bytes 4096] [--selector uniform|prioritized] [--phases insert sample both] [--seconds 2]
#                               [--rounds 5] [--writers 1] [--samplers 1] [--shards 1] [--unix | --shared-memory]
#
# --unix and --shared-memory say how ours is reached; dm-reverb has TCP alone. --shards is ours, too. Installs dm-reverb and
# the TensorFlow that it needs (1 GB, once) into .deps/reverb, cpprb beside it, and Debian's Redis. Each rate of a phase prints
# one JSON line: {"bench":…,"rate":…,"ours":…,"peer":…,"ratio":…,"ceiling_share":…,…} in items per second. The same rounds
# also measure cpprb (not for both) beside ours within one process, and Redis (uniform) beside ours over sockets:
# {"bench":…,"rate":…,"ours":…,"reference":…,…}.
set -euo pipefail
ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)"
# shellcheck source=deploy/install.sh
source "$ROOT/deploy/install.sh"
export TF_CPP_MIN_LOG_LEVEL=3
compare_with_peer reverb bench_replay reverb_replay.py "$@"
