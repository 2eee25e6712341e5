#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Opens the report of a small run in a headless Chromium and checks the rendered page: its first section, the folded
# parts, the curves, and that the small learning rate is distinguished from zero.
#
# Usage: report_in_browser.sh SHOAL. Without chromium it exits with 77, which ctest counts as skipped.
set -euo pipefail

shoal="$1"
browser="$(command -v chromium || command -v chromium-browser || true)"
if [ -z "$browser" ]; then
  echo "skipped: no chromium; as root: apt-get install --no-install-recommends chromium"
  exit 77
fi
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
run="$folder/run"
mkdir "$run"

echo '{"name":"a <small> run","command":"shoal train x","revision":"abc","started":"today"}' > "$run/run.json"
echo '[run]' > "$run/config.toml"
for step in $(seq 1 40); do
  printf '{"seconds":%d,"environment_steps":%d,"environment_steps_per_second":1500,"updates":%d,"success":0.%02d,' \
    "$step" $((step * 1000)) "$step" $((step + 10))
  printf '"return":0.5,"staleness":1.%02d,"details":{"learner_learning_rate":0.0004,"learner_policy_loss":0.%02d,' \
    "$step" "$step"
  printf '"environment_wait_seconds/inference":0.75,"environment_wait_seconds/environment":0.25}}\n'
done > "$run/metrics.jsonl"
echo '{"environment_steps":20000,"success":0.5,"return":0.4,"steps_per_optimal":1.4}' > "$run/evaluations.jsonl"
cat > "$run/result.json" <<'JSON'
{"line": "result success=0.750 episodes=4", "held_out": "", "totals": {"learned": {"episodes": 4, "success": 0.75}},
 "pairs": [{"policy": "learned", "goal": "3 locate", "capture": "dell-r750", "episodes": 2, "success": 1.0},
           {"policy": "learned", "goal": "3 locate", "capture": "dmtf-acd", "episodes": 2, "success": 0.5}],
 "given_up": [{"goal": "8 add_operator", "capture": "dmtf-acd", "reason": "status 400"}]}
JSON
cat > "$run/metrics_table.json" <<'JSON'
[{"metric": "shoal_learner_learning_rate", "kind": "gauge", "help": "Step size of the optimiser.", "group": "learner",
  "unit": "", "title": "learning rate", "draw": "value", "over": "", "status": ""},
 {"metric": "shoal_learner_policy_loss", "kind": "gauge", "help": "Loss.", "group": "learner", "unit": "nats",
  "title": "policy loss", "draw": "value", "over": "", "status": ""},
 {"metric": "shoal_environment_wait_seconds_total", "kind": "counter", "help": "Waits.", "group": "time",
  "unit": "share", "title": "environments wait for", "draw": "shares", "over": "", "status": ""}]
JSON
"$shoal" report "$run" > "$folder/said"

# A page of ours loads the report in a frame and writes down what it finds.
cat > "$folder/look.html" <<'HTML'
<!doctype html><meta charset="utf-8"><iframe src="run/report.html" width="1400" height="900"></iframe><pre id="seen"></pre>
<script>
document.querySelector('iframe').onload = event => {
  const page = event.target.contentDocument;
  const all = selector => [...page.querySelectorAll(selector)];
  const text = node => node ? node.textContent : 'nothing';
  const seen = [];
  const see = (name, value) => seen.push(name + '=' + value + ';');
  see('title', text(page.querySelector('h1')));
  all('h2').forEach((heading, i) => see('heading' + i, text(heading)));
  see('open', all('details[open]').length);
  see('folded', all('details').map(part => text(part.querySelector('summary'))).join(','));
  see('success', text(page.querySelector('table')).replace(/\s+/g, ' '));
  const charts = all('svg').filter(chart => !chart.closest('details'));
  see('charts', charts.map(chart => text(chart.querySelector('title'))).join(','));
  see('drawn', charts.every(chart => chart.getBoundingClientRect().width > 300 &&
                                     (chart.querySelector('path[stroke]').getTotalLength() > 0 ||
                                      chart.querySelector('circle') !== null)));
  see('overlapping', charts.some(chart => {
    const labels = [...chart.querySelectorAll('text.t[text-anchor=middle]')].map(label => label.getBoundingClientRect());
    return labels.some((a, i) => i > 0 && i < labels.length - 1 && a.left < labels[i - 1].right);
  }));
  all('details').forEach(part => { part.open = true; });
  const constant = all('details td').find(cell => text(cell) === 'learning rate');
  see('rate', constant ? text(constant.nextElementSibling) : 'no row');
  see('rate_curve', all('svg title').some(title => text(title) === 'learning rate'));
  see('wide', page.documentElement.scrollWidth <= 1400);
  see('asked', performance.getEntriesByType('resource').filter(entry => !entry.name.includes('report.html')).length);
  document.getElementById('seen').textContent = seen.join('\n');
};
</script>
HTML
"$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$folder/profile" \
  --allow-file-access-from-files --virtual-time-budget=5000 --window-size=1500,1000 \
  --dump-dom "file://$folder/look.html" > "$folder/dom" 2> "$folder/errors" || { cat "$folder/errors"; exit 1; }
sed -n '/id="seen"/,/<\/pre>/p' "$folder/dom"

wrong=0
expect() { # TEXT that the browser has seen
  grep -qF -- "$1" "$folder/dom" || { echo "not seen: $1"; wrong=1; }
}
expect 'title=a &lt;small&gt; run;'
expect 'heading0=Success by goal and vendor;'
expect 'heading1=Learning curve;'
expect 'heading2=Speed and staleness;'
expect 'heading3=Where the time went;'
expect 'open=0;'
expect 'folded=learner (2),by goal, capture and policy,config.toml;'
expect 'success=delldmtfgoalr750acdall3 locate1.000.500.758 add_operatorgiven upall1.000.500.75;'
expect 'charts=success,mean return,requests over the least possible,environment steps,staleness,environments wait for;'
expect 'drawn=true;'
expect 'overlapping=false;'
expect 'rate=0.0004;'
expect 'rate_curve=false;'
expect 'wide=true;'
expect 'asked=0;'
exit "$wrong"
