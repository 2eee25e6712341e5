# SPDX-License-Identifier: Apache-2.0
"""Serves the counters that `shoal` and Prometheus read of an actor, in Prometheus' text format."""
import http.server
import threading


def _text(steps, ended):
    lines = []
    for name, kind, value in (("shoal_environment_steps_total", "counter", steps),
                              ("shoal_episodes_total", "counter", ended.count),
                              ("shoal_episode_return_sum", "gauge", ended.total)):
        lines += [f"# TYPE {name} {kind}", f"{name} {value}"]
    return "\n".join(lines) + "\n"


def serve(address, actor, ended):
    """Serves them at `address`, "host:port", for as long as the process lives. Raises OSError where it is in use."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = _text(actor.steps, ended).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    host, _, port = address.rpartition(":")
    server = http.server.ThreadingHTTPServer((host, int(port)), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
