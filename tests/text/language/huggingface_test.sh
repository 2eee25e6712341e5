#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs huggingface_test.py in the environment of `deploy/install.sh install_huggingface`. Without it the test is skipped
# (exit code 77).
#   tests/text/language/huggingface_test.sh <gpt2_driver>
set -euo pipefail
driver="$(realpath "${1:?the path of gpt2_driver}")"
cd "$(dirname "${BASH_SOURCE[0]}")"
python=../../../.deps/huggingface/bin/python
if [ ! -x "$python" ]; then
  echo "skipped: no .deps/huggingface; type: deploy/install.sh install_huggingface (5 GB)"
  exit 77
fi
exec "$python" -B huggingface_test.py "$driver" "${@:2}"
