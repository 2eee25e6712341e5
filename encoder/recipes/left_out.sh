#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The tables of docs/language.md: what GPT-2 tiny makes of a capture that it has not seen.
#
#   encoder/recipes/left_out.sh [--tokens 120000] [--threads 2] [--work runs/left_out]
#
# First each vendor's capture is left out in turn: one model learns from the three others, and three models learn from
# one of them each, from as many tokens, with the same vocabulary. Then each shipped capture is left out in turn and a
# model learns from the nine others. No vocabulary has seen what is left out, and no text of it that another capture
# repeats is learned from. 26 models of --tokens tokens each; what is in --work already is not made again. Prints two
# tables in Markdown and a last line in JSON. The program is build/bin/encoder, or what ENCODER names.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

TOKENS=120000
THREADS=2
WORK=runs/left_out
while [ $# -gt 0 ]; do
  case "$1" in
    --help | -h) sed -n '3,11s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
    --tokens) TOKENS="${2:?--tokens needs a number}" ;;
    --threads) THREADS="${2:?--threads needs a number}" ;;
    --work) WORK="${2:?--work needs a folder}" ;;
    *) echo "left_out.sh: unknown argument $1; --help lists them" >&2; exit 2 ;;
  esac
  shift 2
done
ENCODER="${ENCODER:-build/bin/encoder}"
[ -x "$ENCODER" ] || { echo "left_out.sh: no $ENCODER; type: cmake --build build --target encoder" >&2; exit 2; }
VENDORS=(dell-r750 hpe-dl380a-gen12 openbmc-stock dmtf-rackmount1)
ALL=()
for archive in data/captures/*.tar.xz; do ALL+=("$(basename "$archive" .tar.xz)"); done
mkdir -p "$WORK"

# others <name> <name...>: prints all names but the first, one a line.
others() {
  local name
  for name in "${@:2}"; do [ "$name" = "$1" ] || echo "$name"; done
}

archives() { printf 'data/captures/%s.tar.xz\n' "$@"; }

# learn <model> <vocabulary> <left out> <learned from...>
learn() {
  local model="$WORK/$TOKENS-$1" vocabulary="$WORK/$2.json" left_out="$3" captures
  shift 3
  tail -n 1 "$model.txt" 2>/dev/null | grep -q '^steps=' && return 0
  mapfile -t captures < <(archives "$left_out" "$@")
  echo "left_out.sh: $model" >&2
  # The capture that is left out comes first, as the first of equal texts is kept.
  "$ENCODER" dataset build --captures "${captures[@]}" --tokenizer "$vocabulary" --output "$model/dataset" \
    --chunk-tokens 512 --overlap 64 > "$model.log" 2>&1 || { cat "$model.log" >&2; exit 1; }
  "$ENCODER" train --dataset "$model/dataset" --output "$model" --resume --hold-out "$left_out" --preset tiny \
    --positions 512 --seed 1 --threads "$THREADS" --tokens "$TOKENS" --batch-tokens 1024 --learning-rate 3e-3 \
    --evaluate-every 1000000 --evaluate-tokens 60000 > "$model.txt" 2> "$model.log" || { cat "$model.log" >&2; exit 1; }
  tail -n 1 "$model.txt" | grep -q '^steps=' || { echo "left_out.sh: typed again, it goes on" >&2; exit 1; }
  rm -rf "$model/dataset" "$model/checkpoints"
}

# vocabulary <name> <learned from...>
vocabulary() {
  local file="$WORK/$1.json" captures
  [ -f "$file" ] && return 0
  mapfile -t captures < <(archives "${@:2}")
  "$ENCODER" tokenizer train --captures "${captures[@]}" --vocabulary-size 4096 --split-camel-case --lower-case \
    --output "$file" > /dev/null
}

# figure <model> <key>
figure() { tail -n 1 "$WORK/$TOKENS-$1.txt" | tr ' ' '\n' | sed -n "s/^$2=//p"; }

# as_json <model>
as_json() {
  printf '{"tokens":%s,"steps":%s,"epochs":%s,"loss":%s,"perplexity":%s,"accuracy":%s}' "$(figure "$1" tokens)" \
    "$(figure "$1" steps)" "$(figure "$1" epochs)" "$(figure "$1" held_out_loss)" \
    "$(figure "$1" held_out_perplexity)" "$(figure "$1" held_out_accuracy)"
}

for left_out in "${VENDORS[@]}"; do
  mapfile -t rest < <(others "$left_out" "${VENDORS[@]}")
  vocabulary "three-$left_out" "${rest[@]}"
  learn "$left_out-three" "three-$left_out" "$left_out" "${rest[@]}"
  for one in "${rest[@]}"; do learn "$left_out-$one" "three-$left_out" "$left_out" "$one"; done
done
for left_out in "${ALL[@]}"; do
  mapfile -t rest < <(others "$left_out" "${ALL[@]}")
  vocabulary "rest-$left_out" "${rest[@]}"
  learn "$left_out-rest" "rest-$left_out" "$left_out" "${rest[@]}"
done

echo "| left out | learned from | tokens | epochs | loss | perplexity | token accuracy |"
echo "|---|---|---|---|---|---|---|"
# row <left out> <model> <learned from>
row() {
  echo "| $1 | $3 | $(figure "$2" tokens) | $(figure "$2" epochs) | $(figure "$2" held_out_loss) |" \
    "$(figure "$2" held_out_perplexity) | $(figure "$2" held_out_accuracy) |"
}
vendors=""
ratios=""
for left_out in "${VENDORS[@]}"; do
  row "$left_out" "$left_out-three" "the three others"
  row_json="\"three\":$(as_json "$left_out-three")"
  best=""
  for one in $(others "$left_out" "${VENDORS[@]}"); do
    row "$left_out" "$left_out-$one" "$one"
    row_json+=",\"$one\":$(as_json "$left_out-$one")"
    best+="$(figure "$left_out-$one" held_out_perplexity)"$'\n'
  done
  ratios+="$(sort -g <<< "${best%$'\n'}" | head -n 1 |
    awk -v three="$(figure "$left_out-three" held_out_perplexity)" '{ printf "%.3f", $1 / three }')"$'\n'
  vendors+="${vendors:+,}\"$left_out\":{$row_json}"
done
# The least of the four ratios, and the mean of the two in the middle.
read -r least median < <(sort -g <<< "${ratios%$'\n'}" | awk '{ x[NR] = $1 } END { printf "%s %.3f\n", x[1], (x[2] + x[3]) / 2 }')
echo
echo "Perplexity after the best of one to perplexity after three: least $least, median $median of the vendors."
echo
echo "| left out | tokens | epochs | loss | perplexity | token accuracy |"
echo "|---|---|---|---|---|---|"
nine=""
for left_out in "${ALL[@]}"; do
  row "$left_out" "$left_out-rest" - | sed 's/ - |//'
  nine+="${nine:+,}\"$left_out\":$(as_json "$left_out-rest")"
done
echo
echo "{\"recipe\":\"left_out\",\"tokens\":$TOKENS,\"least\":$least,\"median\":$median,\"vendors\":{$vendors},\"rest\":{$nine}}"
