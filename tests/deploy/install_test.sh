#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests `deploy/install.sh cuda` in a folder of its own, with stand-ins for pip and ldd: they make and look for empty files.
set -euo pipefail
ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
unset LIBTORCH_ROOT
clone="$work/clone"
mkdir -p "$clone/deploy" "$work/bin"
cp "$ROOT/deploy/install.sh" "$clone/deploy/"

# `pip install --target F` makes the wheels' files in F, unless $work/pip is "fails" or "incomplete".
cat >"$work/bin/python3" <<END
#!/usr/bin/env bash
[ "\$3" = --version ] && exit 0
echo "\$*" >>"$work/calls"
[ "\$(cat "$work/pip")" != fails ] || exit 1
while [ "\$1" != --target ]; do shift; done
mkdir -p "\$2/torch/lib" "\$2/torch/include/torch" "\$2/nvidia/cu13/lib"
echo new >"\$2/torch/lib/libtorch_cpu.so"
touch "\$2/torch/lib/libtorch_cuda.so" "\$2/nvidia/cu13/lib/libcudart.so.13" "\$2/nvidia/cu13/lib/libcupti.so.13"
[ "\$(cat "$work/pip")" = incomplete ] || mkdir "\$2/nvidia/cudnn"
END
cat >"$work/bin/ldd" <<'END'
#!/usr/bin/env bash
echo "libcuda.so.1 => not found"
[ -d "$(dirname "$1")/../../nvidia/cudnn" ] || echo "libcudnn.so.9 => not found"
END
chmod +x "$work"/bin/*
PATH="$work/bin:$PATH"

broken() { echo "FAILED: $*"; exit 1; }

# begin <what pip does>: .deps has libtorch without CUDA's libraries, the sentence encoder and a Python environment.
begin() {
  rm -rf "$clone/.deps" "$work/calls"
  echo "$1" >"$work/pip"
  mkdir -p "$clone"/.deps/{torch/lib,torch/include/torch,nvidia/cu13/lib,minilm,clients}
  echo old >"$clone/.deps/torch/lib/libtorch_cpu.so"
  touch "$clone"/.deps/torch/lib/libtorch_cuda.so "$clone"/.deps/nvidia/cu13/lib/{libcudart.so.13,libcupti.so.13}
  touch "$clone/.deps/minilm/model.safetensors" "$clone/.deps/clients/requirements.txt"
}

kept() { [ -f "$clone/.deps/minilm/model.safetensors" ] && [ -f "$clone/.deps/clients/requirements.txt" ]; }

begin works
"$clone/deploy/install.sh" cuda 2>"$work/said" || broken "the command ends with an error: $(cat "$work/said")"
[ -d "$clone/.deps/nvidia/cudnn" ] || broken "CUDA's libraries are not there"
[ "$(cat "$clone/.deps/torch/lib/libtorch_cpu.so")" = new ] || broken "libtorch is not that of the same wheels"
kept || broken "what else was in .deps is gone"
[ "$(ls "$clone")" = deploy ] && ! ls "$clone"/.deps/*.old 2>/dev/null || broken "something is left over"
! ls -d "$clone"/.deps.* 2>/dev/null || broken "a partial folder is left over"
grep -q -- "--device cuda" "$work/said" || broken "it does not say how to go on"
grep -q -- "--no-deps" "$work/calls" && broken "the wheels that libtorch needs were not fetched"

"$clone/deploy/install.sh" cuda 2>/dev/null
[ "$(wc -l <"$work/calls")" -eq 1 ] || broken "a second call fetches again"

for pip in fails incomplete; do
  begin "$pip"
  ! "$clone/deploy/install.sh" cuda 2>/dev/null || broken "pip $pip, and the command ends well"
  [ "$(cat "$clone/.deps/torch/lib/libtorch_cpu.so")" = old ] || broken "pip $pip, and libtorch was replaced"
  kept || broken "pip $pip, and what else was in .deps is gone"
done

begin works
! LIBTORCH_ROOT="$clone/.deps" "$clone/deploy/install.sh" cuda 2>"$work/said" || broken "somebody else's libtorch is taken"
grep -q "lacks libcudnn.so.9" "$work/said" || broken "it does not say what is missing: $(cat "$work/said")"
[ ! -f "$work/calls" ] || broken "it fetches into somebody else's folder"

begin works
rm "$clone/.deps/torch/lib/libtorch_cpu.so"
"$clone/deploy/install.sh" install_libtorch 2>/dev/null
[ "$(cat "$clone/.deps/torch/lib/libtorch_cpu.so")" = new ] && kept || broken "install_libtorch"
echo "deploy/install.sh cuda: ok"
