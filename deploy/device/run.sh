#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs what pack.sh packed beside this file: the tests of devices, with each device the bench of the policy, and on the
# GPU updates in bfloat16, those of pixels, the benches of central inference without the wire and over it, and training
# steps of GPT-2 small. With PEAK_TFLOPS, what the GPU multiplies at most in bfloat16 (989 on an H200), these say their
# share of it ("mfu").
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1
root="${LIBTORCH_ROOT:?the folder that holds torch and nvidia}"
nvidia="$(printf '%s:' "$root"/nvidia/*/lib)"
export LD_LIBRARY_PATH="$root/torch/lib:$nvidia$PWD/lib"
# Tests fail where CUDA does not load, instead of leaving out what needs it.
export SHOAL_REQUIRE_CUDA=1
failed=0
for test in bin/*_test; do
  "$test" || failed=1
done
[ "${1:-}" = tests ] && exit "$failed"
for device in cpu cuda; do
  for rows in 64 256 1024 4096; do bin/bench_update 512 0 "$device" "$rows" || failed=1; done
  for keys in 0 1; do bin/bench_update 1024 "$keys" "$device" 64 || failed=1; done
done
bin/bench_update 1024 0 cuda 64 ppo bfloat16 || failed=1
for precision in float32 bfloat16; do bin/bench_pixels 512 512 cuda 1 "$precision" || failed=1; done
bin/bench_gpu cuda || failed=1
bin/bench_inference --device cuda --precision bfloat16 --connections 4 --rows 2048 --message 512 --batch 1024 ||
  failed=1
# The peer needs transformers; with it tests/bench/peers/huggingface_pretraining.sh compares both in a clone.
bin/bench_pretraining --captures captures --preset small --block 512 --batch 32 --batches 2 --device cuda --bfloat16 \
  --threads 1 ${PEAK_TFLOPS:+--peak-tflops "$PEAK_TFLOPS"} || failed=1
exit "$failed"
