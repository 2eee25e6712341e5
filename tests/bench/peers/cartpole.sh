#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares training of CartPole-v1 with other libraries' PPO: seconds from process start until 20 greedy episodes have a
# mean return of 475, and environment steps per second while training. Every run is a process of its own that may use
# all cores, in turn, round by round. Networks are the same (2 x 64 tanh for the policy and for the values); everything
# else is what each library recommends for the task.
#
#   tests/bench/peers/cartpole.sh [--peers sb3 tianshou sample_factory rllib] [--rounds 3] [--seeds 1 2 3]
#                                 [--max-seconds 180] [--max-steps 500000]
#
# Installs the peers (2 GB, once) and the torch that they share (5 GB, once) into .deps. Each peer prints two JSON
# lines: {"bench":"cartpole_seconds","peer_name":…,"ours":…,"peer":…,"ratio":…,…} and those of
# "cartpole_steps_per_second". A ratio is how many times as good ours is. A run, of ours or of a peer, that is not
# solved within --max-seconds and --max-steps counts with --max-seconds, and "reached" is false. A peer that cannot be
# installed or fails has one line with "failed".
set -euo pipefail
ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)"
# shellcheck source=deploy/install.sh
source "$ROOT/deploy/install.sh"
case "${1:-}" in
  --help | -h) sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 0 ;;
esac
cd "$ROOT"
need_bench bench_end_to_end
exec /usr/bin/python3 tests/bench/peers/cartpole.py --bench build/bin/bench_end_to_end "$@"
