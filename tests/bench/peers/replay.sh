#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares replay with dm-reverb: items inserted and sampled per second over loopback, in turn, round by round.
#
#   tests/bench/peers/replay.sh [--bytes 4096] [--selector uniform|prioritized] [--phases insert sample] [--seconds 2]
#                               [--rounds 5]
#
# Installs dm-reverb and the TensorFlow that it needs (1 GB, once) into .deps/reverb. Each phase prints one JSON line:
# {"bench":…,"ours":…,"peer":…,"ratio":…,"ceiling_share":…,…} in items per second.
set -euo pipefail
ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)"
# shellcheck source=deploy/install.sh
source "$ROOT/deploy/install.sh"
cd "$ROOT"
case "${1:-}" in
  --help | -h) sed -n '3,9s/^# \{0,1\}//p' "$0"; exit 0 ;;
esac
[ -x build/bin/bench_replay ] || fail "no build/bin/bench_replay; type: cmake --build build --target bench_replay"
install_reverb
export TF_CPP_MIN_LOG_LEVEL=3
exec .deps/reverb/bin/python tests/bench/peers/reverb_replay.py --bench build/bin/bench_replay "$@"
