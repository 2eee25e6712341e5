#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares training on frames of 84 x 84 x 4 bytes with Sample Factory's asynchronous PPO: environment steps per second
# with training, the same network and updates, whole runs in turn, round by round.
#
#   tests/bench/peers/pixels.sh [--rounds 3] [--seconds 30]
#
# Installs Sample Factory (0.4 GB, once) and torch (5 GB, once) into .deps. Prints one JSON line:
# {"bench":"pixels_steps_per_second","peer_name":"sample_factory","ours":…,"peer":…,"ratio":…,"ceiling_share":…,…}. The
# ceiling is what all cores could train if they did nothing but forward and backward (bench_pixels), in the same run.
set -euo pipefail
ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)"
# shellcheck source=deploy/install.sh
source "$ROOT/deploy/install.sh"
compare_with_peer sample_factory bench_end_to_end pixels.py "$@"
