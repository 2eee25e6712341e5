#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests of this folder in the environment of `deploy/install.sh install_gymnasium`. Without it the
# test is skipped (exit code 77).
#   tests/python/shoal_gym/actor_test.sh [flags of unittest]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
python=../../../.deps/gymnasium/bin/python
if [ ! -x "$python" ]; then
  echo "skipped: no .deps/gymnasium; type: deploy/install.sh install_gymnasium (0.3 GB)"
  exit 77
fi
exec "$python" -B -m unittest protocol_test serving_test command_test actor_test train_test "$@"
