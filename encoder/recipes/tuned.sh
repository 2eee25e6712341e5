#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes data/encoder/tuned: the adapter of inference.encoder = "tuned", trained on the shipped captures.
#
#   encoder/recipes/tuned.sh [--output data/encoder/tuned] [--seed 1]
#
# It learns from the phrasings of training, on the shipped captures and two variants of each, and from the descriptions
# of DMTF's schema. The base is "both:sentence", so all-MiniLM-L6-v2 must be there (deploy/install.sh install_minilm;
# MINILM_ROOT names another folder). Equal seeds give equal bytes on equal processors. Two minutes on two cores. The
# program is build/bin/encoder, or what ENCODER names.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

OUTPUT=data/encoder/tuned
SEED=1
while [ $# -gt 0 ]; do
  case "$1" in
    --help | -h) sed -n '3,10s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
    --output) OUTPUT="${2:?--output needs a folder}" ;;
    --seed) SEED="${2:?--seed needs a number}" ;;
    *) echo "tuned.sh: unknown argument $1; --help lists them" >&2; exit 2 ;;
  esac
  shift 2
done
ENCODER="${ENCODER:-build/bin/encoder}"
SENTENCES="${MINILM_ROOT:-.deps/minilm}"
[ -x "$ENCODER" ] || { echo "tuned.sh: no $ENCODER; type: cmake --build build --target encoder" >&2; exit 2; }
[ -f "$SENTENCES/config.json" ] ||
  { echo "tuned.sh: no sentence encoder in $SENTENCES; type: deploy/install.sh install_minilm" >&2; exit 2; }

mkdir -p "$OUTPUT"
PRINTED="$("$ENCODER" tune --seed "$SEED" --sentences "$SENTENCES" --output "$OUTPUT" | tee /dev/stderr)"
RESULT="$(tail -n 1 <<<"$PRINTED")"
# figure <key>: prints a value from the last line of `tune`.
figure() { tr ' ' '\n' <<<"$RESULT" | sed -n "s/^$1=//p"; }

cat > "$OUTPUT/README.md" <<END
# The tuned encoder's adapter

\`encoder/recipes/tuned.sh --seed $SEED\` made this folder. \`adapter.safetensors\` holds two affine maps, of sentences and of
requests, from the 896 numbers of \`both:sentence\` to 256, as float16 (\`lib/text/embedding/adapter.h\`).
\`lexical.idf\` is the table of the lexical part. \`inference.encoder = "tuned"\` names the folder; it needs
all-MiniLM-L6-v2 and makes 1,152 numbers.

It took $(figure steps) steps on $(figure captures) captures, $(figure sets) with their variants; the loss at the end is
$(figure loss), the temperature $(figure temperature). Nothing is held out here: \`docs/decisions/0046-tuned-encoder.md\`
has figures of such adapters on captures that they have not seen.

It was trained on vectors of the ten archives of \`data/captures\`, which are under BSD-3-Clause and MIT
(\`data/captures/README.md\`, \`NOTICE\`), of DMTF's JSON Schema (BSD-3-Clause) and of the phrasings of \`data/goals\`. The
vectors are those of all-MiniLM-L6-v2 (Apache-2.0) and of the lexical encoder.
END
ls -l "$OUTPUT"
