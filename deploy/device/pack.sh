#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Packs the tests and benches of devices, with the Debian libraries that they need, for a machine that has a GPU and
# libtorch but nothing of this project.
#
#   deploy/device/pack.sh FOLDER       builds, and makes the folder; fails if it is above 60 MB
#
# There, with the site-packages folder that holds torch and nvidia:
#
#   LIBTORCH_ROOT=/path/to/site-packages FOLDER/run.sh           tests, then benches on CPU and GPU
#   LIBTORCH_ROOT=/path/to/site-packages FOLDER/run.sh tests     the tests alone
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source deploy/install.sh
folder="${1:?usage: deploy/device/pack.sh FOLDER}"
most_mb=60
programs=(build/tests/model_test build/tests/algorithms_test build/tests/language_training_test
  build/tests/tensor_parallel_test build-cuda/tests/nccl_test
  build/bin/bench_update build/bin/bench_pixels build/bin/bench_pretraining build/bin/bench_gpu
  build/bin/bench_inference)
build release build model_test algorithms_test language_training_test tensor_parallel_test \
  bench_update bench_pixels bench_pretraining bench_gpu bench_inference
install_nccl
build cuda build-cuda nccl_test

rm -rf "$folder"
mkdir -p "$folder/bin" "$folder/lib"
for program in "${programs[@]}"; do
  strip -o "$folder/bin/$(basename "$program")" "$program"
done
# What comes with every Linux system, and what comes with libtorch, stays out.
ldd "${programs[@]}" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u |
  grep -v -E '/(torch|nvidia)/|/(libc|libm|libdl|libpthread|librt|ld-linux-x86-64|libresolv|libstdc\+\+|libgcc_s)\.so' |
  while read -r library; do cp -L "$library" "$folder/lib/"; done
cp deploy/device/run.sh "$folder/run.sh"
mkdir "$folder/captures"
cp data/captures/openbmc-stock.tar.xz "$folder/captures/"
size=$(du -s --block-size=1MB "$folder" | cut -f 1)
[ "$size" -le "$most_mb" ] || fail "$folder has $size MB, more than $most_mb"
say "$folder has $size MB"
