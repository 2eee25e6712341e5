#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes data/encoder/tiny: GPT-2 tiny, trained on the shipped captures.
#
#   encoder/recipes/tiny.sh [--output data/encoder/tiny] [--steps 1600] [--threads 2] [--work runs/tiny]
#
# A vocabulary of 4,096 tokens, in which AssetTag and "asset tag" are the same, and two parts. In the first each text
# is a request with its methods and what it is answered; in the last third of the steps bodies alone, or pieces of them,
# as texts are when they are embedded. Weights are stored as float16. Equal threads on equal processors give equal bytes.
# Eight and a half minutes on two cores; ended and typed again, it goes on from where it was. Datasets, curves and
# checkpoints are in --work. The program is build/bin/encoder, or what ENCODER names.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

OUTPUT=data/encoder/tiny
STEPS=1600
THREADS=2
WORK=runs/tiny
while [ $# -gt 0 ]; do
  case "$1" in
    --help | -h) sed -n '3,11s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
    --output) OUTPUT="${2:?--output needs a folder}" ;;
    --steps) STEPS="${2:?--steps needs a number}" ;;
    --threads) THREADS="${2:?--threads needs a number}" ;;
    --work) WORK="${2:?--work needs a folder}" ;;
    *) echo "tiny.sh: unknown argument $1; --help lists them" >&2; exit 2 ;;
  esac
  shift 2
done
ENCODER="${ENCODER:-build/bin/encoder}"
CHUNK=512
[ -x "$ENCODER" ] || { echo "tiny.sh: no $ENCODER; type: cmake --build build --target encoder" >&2; exit 2; }

# dataset <name> [flags]
dataset() {
  local name="$1"
  shift
  "$ENCODER" dataset build --captures data/captures/*.tar.xz --tokenizer "$WORK/tokenizer.json" --output "$WORK/$name" \
    --chunk-tokens "$CHUNK" --overlap 64 --licence BSD-3-Clause dell-r750=MIT "$@"
}

# train <name> [flags]: trains and keeps the output in <name>.txt. Ends this script when training was asked to stop.
train() {
  local name="$1"
  shift
  "$ENCODER" train --output "$WORK/$name" --resume --seed 1 --batch-tokens 2048 --threads "$THREADS" "$@" |
    tee "$WORK/$name.txt"
  tail -n 1 "$WORK/$name.txt" | grep -q '^steps=' || { echo "tiny.sh: typed again, it goes on" >&2; exit 1; }
}

# figure <name> <key>: prints a value from the last line of `train`.
figure() { tail -n 1 "$WORK/$1.txt" | tr ' ' '\n' | sed -n "s/^$2=//p"; }

# late <name> <key>: prints the mean over the last 100 steps.
late() {
  grep -o "\"$2\":[0-9.e-]*" "$WORK/$1/metrics.jsonl" | tail -n 100 | awk -F: '{ s += $2 } END { printf "%.3f", s / NR }'
}

mkdir -p "$WORK" "$OUTPUT"
"$ENCODER" tokenizer train --captures data/captures/*.tar.xz --vocabulary-size 4096 --split-camel-case --lower-case \
  --output "$WORK/tokenizer.json"
dataset answers
dataset bodies --no-prompt
LAST=$((STEPS / 3))
train first --dataset "$WORK/answers" --preset tiny --positions "$CHUNK" --steps $((STEPS - LAST)) \
  --learning-rate 2e-3 --floor 0.5
train last --dataset "$WORK/bodies" --model "$WORK/first/model" --steps "$LAST" \
  --learning-rate 1e-3 --schedule linear --warmup 0.02 --floor 0.05 --weights float16
cp "$WORK"/last/model/{config.json,model.safetensors,tokenizer.json} "$OUTPUT/"

cat > "$OUTPUT/README.md" <<END
# GPT-2 tiny, trained on the shipped captures

Made by \`encoder/recipes/tiny.sh --steps $STEPS\`, seed 1, $THREADS threads. 4 layers, width 128, 4,096 tokens, texts of
$CHUNK tokens at most; weights as float16. transformers and \`tokenizers\` load the folder as it is.

| part | texts | steps | tokens | epochs | loss | perplexity | token accuracy |
|---|---|---|---|---|---|---|---|
$(for part in first last; do
  texts="requests with their answers"
  [ "$part" = last ] && texts="bodies alone"
  loss="$(late "$part" loss)"
  echo "| $part | $texts | $(figure "$part" steps) | $(figure "$part" tokens) | $(figure "$part" epochs) | $loss |" \
    "$(awk "BEGIN { printf \"%.1f\", exp($loss) }") | $(late "$part" accuracy) |"
done)

Loss and accuracy are means over the last 100 steps of a part, each before the step learned from its texts. Nothing is
held out here; what such a model makes of a capture that it has not seen: \`docs/language.md\`.

It has seen the ten archives of \`data/captures\`, which are under BSD-3-Clause and MIT (\`data/captures/README.md\`,
\`NOTICE\`), and nothing else. It learned names of members, values and URIs from them, and can be made to repeat them.
END
ls -l "$OUTPUT"
