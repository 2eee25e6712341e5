#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes data/encoder/state: a state encoder on GPT-2 tiny, trained on the bodies of nine shipped captures.
#
#   encoder/recipes/state.sh [--output data/encoder/state] [--steps 125] [--threads 1] [--work runs/state]
#
# hpe-dl380a-gen12 is held out: it is only measured on, and the last line compares the encoders of bodies on it. Equal
# threads on equal processors give equal bytes. Some two minutes on one core; ended and typed again, it goes on from
# where it was. Curves and checkpoints are in --work. The program is build/bin/encoder, or what ENCODER names.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

OUTPUT=data/encoder/state
STEPS=125
THREADS=1
WORK=runs/state
while [ $# -gt 0 ]; do
  case "$1" in
    --help | -h) sed -n '3,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
    --output) OUTPUT="${2:?--output needs a folder}" ;;
    --steps) STEPS="${2:?--steps needs a number}" ;;
    --threads) THREADS="${2:?--threads needs a number}" ;;
    --work) WORK="${2:?--work needs a folder}" ;;
    *) echo "state.sh: unknown argument $1; --help lists them" >&2; exit 2 ;;
  esac
  shift 2
done
ENCODER="${ENCODER:-build/bin/encoder}"
HELD_OUT=hpe-dl380a-gen12
OTHERS="openbmc-stock dmtf-rackmount1 dell-r750 dmtf-acd dmtf-catfish dmtf-liquid-cooled-server dmtf-mpf dmtf-smartnic
  dmtf-telemetry"
[ -x "$ENCODER" ] || { echo "state.sh: no $ENCODER; type: cmake --build build --target encoder" >&2; exit 2; }

mkdir -p "$WORK" "$OUTPUT"
"$ENCODER" train-state --captures $OTHERS "$HELD_OUT" --hold-out "$HELD_OUT" --model gpt2:tiny --layer 1 \
  --output "$WORK/run" --resume --seed 1 --steps "$STEPS" --temperature 0.03 --learning-rate 2e-3 --threads "$THREADS" \
  --evaluate-every "$STEPS" --evaluate-batches 2 | tee "$WORK/run.txt"
grep -q '^stopped' "$WORK/run.txt" && { echo "state.sh: typed again, it goes on" >&2; exit 1; }
cp "$WORK"/run/model/{config.json,model.safetensors} "$OUTPUT/"
"$ENCODER" evaluate-bodies --encoders lexical gpt2:tiny "state:$OUTPUT" --training $OTHERS --captures "$HELD_OUT" |
  tee "$WORK/bodies.txt"

# figure <key>: prints a value from the last line of `train-state`.
figure() { tr ' ' '\n' < "$WORK/run.txt" | sed -n "s/^$1=//p"; }

cat > "$OUTPUT/README.md" <<END
# State encoder on GPT-2 tiny

\`encoder/recipes/state.sh --steps $STEPS\` made this pooling with seed 1 and $THREADS thread(s). It turns the hidden
states of \`data/encoder/tiny\` after its first block into one vector of 128 numbers
(\`lib/text/language/state_network.h\`), and works with that model alone. The knob \`body_encoder = "state"\` names it.

| | reconstruction | contrast | accuracy |
|---|---|---|---|
| the last step | $(figure reconstruction) | $(figure contrast) | $(figure accuracy) |
| held out: $HELD_OUT | $(figure held_out_reconstruction) | $(figure held_out_contrast) | $(figure held_out_accuracy) |

Reconstruction is the mean squared error of standardised hidden states. Accuracy is the share of views whose nearest one
in the batch is of the same state of the same body. What the vectors tell of bodies, beside those of other encoders:
decision 47.

It has learned from the other nine archives of \`data/captures\` and from nothing else; the model beneath has seen all
ten. Their licences are in \`data/captures/README.md\` and \`NOTICE\`.
END
ls -l "$OUTPUT"
