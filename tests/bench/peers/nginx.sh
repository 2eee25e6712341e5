#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares GET of a system by the simulated service and by nginx, which serves the same bytes from a file. Each has one
# worker on one processor, and the same client measures them in turn from another processor.
#
#   tests/bench/peers/nginx.sh [--tls] [--capture dell-r750] [options of bench_peer: --connections 32 --rounds 7 ...]
#
# Installs Debian's nginx if it is missing, or says what to type. The last line is one JSON object:
# {"bench":…,"ours":…,"peer":…,"ratio":…,…} in requests per second.
set -euo pipefail
ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)"
# shellcheck source=deploy/install.sh
source "$ROOT/deploy/install.sh"
cd "$ROOT"

capture=dell-r750 tls=() options=()
while [ $# -gt 0 ]; do
  case "$1" in
    --help | -h) sed -n '3,9s/^# \{0,1\}//p' "$0"; exit 0 ;;
    --tls) tls=(--tls); shift ;;
    --capture) capture="${2:?}"; shift 2 ;;
    *) options+=("$1"); shift ;;
  esac
done
for program in mockserver bench_peer; do
  [ -x "build/bin/$program" ] || fail "no build/bin/$program; type: cmake --build build --target mockserver bench_peer"
done
install_packages nginx curl

folder="$(mktemp -d)"
pids=()
finish() {
  [ "${#pids[@]}" -eq 0 ] || kill "${pids[@]}" 2>/dev/null || true
  wait
  rm -rf "$folder"
}
trap finish EXIT
# nginx's worker does not run as root.
chmod 755 "$folder"

server=() client=()
if [ "$(nproc)" -gt 1 ]; then server=(taskset -c 0) client=(taskset -c 1) options+=(--spin); fi
wait_until() {
  for _ in $(seq 300); do
    "$@" >/dev/null 2>&1 && return
    sleep 0.1
  done
  cat "$folder"/*.log >&2
  fail "no answer from $1"
}

settings=(--set "mockserver.captures=[\"data/captures/$capture.tar.xz\"]" --set 'mockserver.listen="127.0.0.1:0"'
  --set 'mockserver.control_listen="127.0.0.1:0"')
scheme=http
if [ "${#tls[@]}" -gt 0 ]; then
  scheme=https
  settings+=(--set "mockserver.certificate_file=\"$folder/certificate.pem\"" --set "mockserver.key_file=\"$folder/key.pem\"")
fi
"${server[@]}" build/bin/mockserver "${settings[@]}" 2>"$folder/ours.log" >&2 &
ours_pid=$!
pids+=("$ours_pid")
wait_until grep -q event=listening "$folder/ours.log"
ours="$(sed -n 's/.*event=listening address=\([^ ]*\).*/\1/p' "$folder/ours.log")"

# This finds the first system as any client does.
get() { curl --silent --fail --insecure "$scheme://$ours$1"; }
member() { sed 's/.*"Members":\[{"@odata.id":"\([^"]*\)".*/\1/'; }
path="$(get /redfish/v1/Systems | member)"
mkdir -p "$folder/files$(dirname "$path")"
get "$path" >"$folder/files$path"

# nginx is fastest on small files with these: open descriptors, no log, answers written in one piece.
port=$((20000 + $$ % 20000)) ssl="" keys=""
if [ "${#tls[@]}" -gt 0 ]; then
  ssl=" ssl"
  keys="ssl_certificate $folder/certificate.pem; ssl_certificate_key $folder/key.pem;"
fi
cat >"$folder/nginx.conf" <<END
daemon off;
worker_processes 1;
pid $folder/nginx.pid;
error_log $folder/nginx.log;
events { worker_connections 1024; }
http {
  access_log off;
  sendfile off;
  open_file_cache max=16 inactive=1h;
  open_file_cache_valid 1h;
  keepalive_requests 1000000000;
  keepalive_timeout 1h;
  default_type application/json;
  client_body_temp_path $folder/body; proxy_temp_path $folder/proxy; fastcgi_temp_path $folder/fastcgi;
  uwsgi_temp_path $folder/uwsgi; scgi_temp_path $folder/scgi;
  server { listen 127.0.0.1:$port$ssl; $keys root $folder/files; }
}
END
PATH="$PATH:/usr/sbin" "${server[@]}" nginx -c "$folder/nginx.conf" &
pids+=("$!")
wait_until pgrep -P "${pids[1]}"
peer_pid="$(pgrep -P "${pids[1]}")"
wait_until curl --silent --fail --insecure "$scheme://127.0.0.1:$port$path"

"${client[@]}" build/bin/bench_peer --name nginx --ours "$ours" --peer "127.0.0.1:$port" --path "$path" --ours-pid "$ours_pid" \
  --peer-pid "$peer_pid" "${tls[@]}" "${options[@]}"
