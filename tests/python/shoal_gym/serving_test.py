# SPDX-License-Identifier: Apache-2.0
"""What a cluster asks of an actor: metrics, health, an end, and other servers. actor_test.sh runs this file."""
import contextlib
import io
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock
import urllib.request
from pathlib import Path

import grpc

import installed_package
from actor_test import PROGRAMS, free_ports, with_package
from protocol_test import FENCED, FIRST, OK, OVERLOADED, Counting, Server, free_port, play

PATIENCE = 60


def setUpModule():
    installed_package.folder()


def health_of(address):
    """Returns the exit code and the line of the program that asks as a kubelet does."""
    done = subprocess.run([PROGRAMS / "shoal", "health", address, "--timeout", "5"], capture_output=True, text=True,
                          check=False)
    return done.returncode, done.stdout + done.stderr


def await_that(holds):
    limit = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > limit:
            raise AssertionError("it did not come")
        time.sleep(0.05)


def text_at(address):
    with urllib.request.urlopen(f"http://{address}/metrics") as answer:
        return answer.read().decode()


def samples_of(text):
    """Returns each value by the name of its sample with its labels."""
    return {name: float(value) for name, value in
            (line.rsplit(" ", 1) for line in text.splitlines() if line[0] != "#")}


def played(test, servers, environments, is_done):
    """Plays, and returns the text of metrics that is served afterwards."""
    from shoal_gym.metrics import ActorMetrics
    metrics = ActorMetrics()
    play(test, servers, environments, is_done, metrics)
    address = f"127.0.0.1:{free_port()}"
    metrics.serve(address)
    return text_at(address)


class MetricsTest(unittest.TestCase):
    def samples(self, server, environments, steps):
        from shoal_gym.inference_servers import InferenceServers
        self.text = played(self, InferenceServers(server.address), environments, lambda taken: taken >= steps)
        return samples_of(self.text)

    def test_steps_episodes_and_returns_are_counted_under_the_names_that_shoal_reads(self):
        samples = self.samples(Server(self, lambda connection, row: OK), [Counting(2, True)], 6)
        self.assertIn("# TYPE shoal_environment_steps_total counter", self.text.splitlines())
        self.assertEqual(samples["shoal_environment_steps_total"], 6)
        self.assertEqual(samples["shoal_episodes_total"], 3)
        self.assertEqual(samples["shoal_episode_steps_total"], 6)
        self.assertEqual(samples["shoal_episode_return_sum"], 9)
        self.assertEqual(samples['shoal_act_rows_total{status="ok"}'], 6)
        self.assertEqual(samples['shoal_act_rows_total{status="overloaded"}'], 0)
        self.assertGreater(samples['shoal_process_cpu_seconds_total{program="actor"}'], 0)
        self.assertGreater(samples['shoal_process_resident_bytes{program="actor"}'], 1e6)
        self.assertFalse([name for name in samples if "_created" in name])
        # How shoal shows what it reads.
        told = {name for name in samples if name.startswith("shoal_metric_info{")}
        self.assertEqual(len(told), 10)
        mean = next(name for name in told if 'metric="shoal_episode_return_sum"' in name)
        for label in ('kind="gauge"', 'over="shoal_episodes_total"', 'status="return"', 'group="learning"'):
            self.assertIn(label, mean)

    def test_what_a_server_refuses_and_forgets_is_counted(self):
        def judge(connection, row):
            if row[:2] == (1, 2):
                return FENCED
            if row[:2] == (0, 4) and connection == 1:
                server.epoch = 2
                return None
            first_time = row not in asked
            asked.append(row)
            return OVERLOADED if row[:2] == (0, 2) and first_time else OK

        asked = []
        server = Server(self, judge)
        samples = self.samples(server, [Counting(50, True), Counting(50, True)], 12)
        self.assertEqual(samples['shoal_act_rows_total{status="overloaded"}'], 1)
        self.assertEqual(samples['shoal_act_rows_total{status="fenced"}'], 1)
        self.assertEqual(samples["shoal_environments_fenced_total"], 1)
        self.assertEqual(samples['shoal_episodes_aborted_total{reason="server_restarted"}'], 1)
        self.assertEqual(samples['shoal_episodes_aborted_total{reason="server_changed"}'], 0)

    def test_a_system_that_does_not_tell_memory_leaves_it_out_and_nothing_else(self):
        with unittest.mock.patch("shoal_gym.metrics.open", create=True, side_effect=FileNotFoundError) as opened:
            samples = self.samples(Server(self, lambda connection, row: OK), [Counting(2, True)], 6)
        self.assertEqual(opened.call_count, 1)
        self.assertNotIn('shoal_process_resident_bytes{program="actor"}', samples)
        self.assertGreater(samples['shoal_process_cpu_seconds_total{program="actor"}'], 0)
        self.assertEqual(samples["shoal_environment_steps_total"], 6)

    def test_all_environments_share_the_time_of_the_thread(self):
        class Slow(Counting):
            def step(self, action):
                time.sleep(0.01)
                return super().step(action)

        began = time.monotonic()
        samples = self.samples(Server(self, lambda connection, row: OK), [Slow(9, True), Slow(9, True)], 20)
        passed = time.monotonic() - began
        waits = {reason: samples[f'shoal_environment_wait_seconds_total{{reason="{reason}"}}']
                 for reason in ("environment", "inference", "connection")}
        self.assertGreater(waits["environment"], 2 * 20 * 0.01)
        self.assertGreater(min(waits.values()), 0)
        self.assertLess(sum(waits.values()), 2 * passed)


class ServersTest(unittest.TestCase):
    def setUp(self):
        self.file = Path(self.enterContext(tempfile.TemporaryDirectory())) / "servers"

    def write(self, *addresses):
        part = self.file.with_suffix(".part")
        part.write_text("".join(f"{address}\n" for address in addresses))
        part.rename(self.file)

    def servers(self, number):
        from shoal_gym.inference_servers import InferenceServers
        return InferenceServers(file=self.file, number=number)

    def test_an_actor_that_plays_moves_to_a_server_that_is_added(self):
        first, second = (Server(self, lambda connection, row: OK) for _ in range(2))
        self.write(first.address)

        def is_done(steps):
            if steps >= 20:
                self.write(first.address, second.address)
            return len(second.taken) >= 20

        environments = [Counting(1000, True), Counting(1000, True)]
        with contextlib.redirect_stderr(io.StringIO()) as printed:
            play(self, self.servers(1), environments, is_done)
        for number in (0, 1):
            rows = second.rows_of(number)
            # The running episodes are begun anew, and nothing is lost or repeated after that.
            self.assertEqual(rows[0][1:], (FIRST, 0.0, 0.0))
            self.assertEqual([row[0] for row in rows], list(range(rows[0][0], rows[0][0] + len(rows))))
            self.assertEqual([row[3] for row in rows], [float(i) for i in range(len(rows))])
        self.assertIn(f"event=inference_server_changed server={first.address}", printed.getvalue())

    def test_an_actor_leaves_a_server_that_answers_no_more_when_the_file_does(self):
        def judge(connection, row):
            if row[1] == 5:
                self.write(second.address)
                ended.wait(20)
            return OK

        ended = threading.Event()
        self.addCleanup(ended.set)
        silent, second = Server(self, judge), Server(self, lambda connection, row: OK)
        self.write(silent.address)
        text = played(self, self.servers(0), [Counting(100, True)], lambda steps: len(second.taken) >= 5)
        self.assertEqual(len(silent.taken), 5)
        samples = samples_of(text)
        self.assertEqual(samples['shoal_episodes_aborted_total{reason="server_changed"}'], 1)
        self.assertEqual(samples['shoal_episodes_aborted_total{reason="server_restarted"}'], 0)
        # What passed until it looked at the file is the time of an answer that never came.
        waits = {reason: samples[f'shoal_environment_wait_seconds_total{{reason="{reason}"}}']
                 for reason in ("inference", "connection")}
        self.assertGreater(waits["inference"], waits["connection"])

    def test_actors_take_servers_in_turn(self):
        self.write("# those of this cluster", "a:1", "", "unix:/b", "c:3")
        self.assertEqual([self.servers(number).current() for number in range(4)], ["a:1", "unix:/b", "c:3", "a:1"])

    def test_lines_end_where_they_do_for_actors_in_cpp(self):
        self.file.write_bytes("a:1\r\nunix:/b\u2028\x0bc:2\rd:3\n".encode())
        self.assertEqual([self.servers(number).current() for number in range(3)],
                         ["a:1", "unix:/b\u2028\x0bc:2", "d:3"])

    def test_a_file_that_names_no_servers_is_refused_at_the_start_and_changes_nothing_later(self):
        wrong = {"names no inference server": [], "names a:1 twice": ["a:1", "a:1"],
                 "'a b:1' is not host:port": ["a b:1"], "'a:' is not host:port": ["a:"],
                 "is larger than 1048576 bytes": ["a:1", "#" * (1 << 20)]}
        for sentence, lines in wrong.items():
            self.write(*lines)
            with self.assertRaisesRegex(ValueError, f"{self.file}.*{sentence}"):
                self.servers(0)
        self.write("a:1")
        servers = self.servers(0)
        with contextlib.redirect_stderr(io.StringIO()) as printed:
            self.file.unlink()
            await_that(lambda: servers.current() and printed.getvalue())
            self.assertEqual(servers.current(), "a:1")
            self.write("b:1")
            await_that(lambda: servers.current() == "b:1")
        self.assertEqual(printed.getvalue().count("event=addresses_refused"), 1)


ENVIRONMENT = '''
import os
import signal
import socket

import gymnasium
from protocol_test import Counting


class Waiting(Counting):
    """Its constructor takes until whoever listens at the port GATE hangs up."""

    def __init__(self, **arguments):
        super().__init__(**arguments)
        with socket.create_connection(("127.0.0.1", int(os.environ["GATE"]))) as gate:
            gate.recv(1)


class Told(Counting):
    """Asks its own process to end while it makes a step."""

    def step(self, action):
        seen = super().step(action)
        if len(self.actions) == 25:
            os.kill(os.getpid(), signal.SIGTERM)
            print("the step went on", flush=True)
        return seen


for kind in (Counting, Waiting, Told):
    gymnasium.register(f"{kind.__name__}-v0", kind, kwargs={"length": 10, "terminates": True})
'''


class HealthTest(unittest.TestCase):
    def start(self, *flags, name="Counting-v0", gate=0):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        (Path(folder) / "counting.py").write_text(ENVIRONMENT)
        environment = with_package()
        environment["PYTHONPATH"] += f":{folder}:{Path(__file__).parent}"
        environment["GATE"] = str(gate)
        process = subprocess.Popen(
            [sys.executable, f"{installed_package.folder()}/bin/shoal-gym-actor", "--environment",
             f"counting:{name}", *flags],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def assert_not_serving(self, address):
        code, line = health_of(address)
        self.assertEqual(code, 1)
        self.assertIn("not serving", line)

    def listen(self):
        gate = self.enterContext(socket.create_server(("127.0.0.1", 0)))
        gate.settimeout(PATIENCE)
        return gate, gate.getsockname()[1]

    def test_an_actor_that_makes_its_environments_answers_that_it_does_not_serve_and_its_metrics(self):
        gate, port = self.listen()
        health, metrics, nobody = (f"127.0.0.1:{port}" for port in free_ports(3))
        actor = self.start("--inference", nobody, "--environments", "1", "--health", health, "--metrics", metrics,
                           name="Waiting-v0", gate=port)
        with gate.accept()[0]:
            self.assert_not_serving(health)
            self.assertEqual(samples_of(text_at(metrics))["shoal_environment_steps_total"], 0)
        await_that(lambda: health_of(health)[0] == 0)
        actor.send_signal(signal.SIGTERM)
        self.assertEqual(actor.wait(PATIENCE), 0)

    def test_an_actor_that_makes_its_environments_ends_when_it_is_asked_to(self):
        gate, port = self.listen()
        health, nobody = (f"127.0.0.1:{port}" for port in free_ports(2))
        actor = self.start("--inference", nobody, "--health", health, name="Waiting-v0", gate=port)
        with gate.accept()[0]:
            actor.send_signal(signal.SIGTERM)
            self.assertEqual(actor.wait(PATIENCE), 0)

    def test_an_actor_that_plays_serves_and_ends_when_it_is_asked_to(self):
        server = Server(self, lambda connection, row: OK)
        health = f"127.0.0.1:{free_port()}"
        actor = self.start("--inference", server.address, "--health", health)
        await_that(lambda: health_of(health)[0] == 0)
        await_that(lambda: len(server.taken) > 100)
        actor.send_signal(signal.SIGTERM)
        self.assertEqual(actor.wait(PATIENCE), 0)
        self.assertNotEqual(health_of(health)[0], 0)

    def test_the_end_interrupts_no_step_as_it_might_as_well_interrupt_what_holds_a_lock(self):
        actor = self.start("--inference", Server(self, lambda connection, row: OK).address, "--environments", "1",
                           name="Told-v0")
        self.assertEqual(actor.wait(PATIENCE), 0)
        self.assertEqual(actor.stdout.read(), "the step went on\n")

    def test_an_actor_serves_while_inference_is_away(self):
        health, nobody = (f"127.0.0.1:{port}" for port in free_ports(2))
        actor = self.start("--inference", nobody, "--health", health)
        await_that(lambda: health_of(health)[0] == 0)
        self.assertIsNone(actor.poll())
        actor.send_signal(signal.SIGTERM)
        self.assertEqual(actor.wait(PATIENCE), 0)

    def test_the_service_says_not_serving_before_the_actor_begins_and_when_it_ends(self):
        from grpc_health.v1 import health_pb2, health_pb2_grpc
        from shoal_gym.health import HealthServer
        address = f"127.0.0.1:{free_port()}"
        health = HealthServer(address)
        self.assert_not_serving(address)
        health.set_serving()
        self.assertEqual(health_of(address)[0], 0)
        with grpc.insecure_channel(address) as channel:
            stub = health_pb2_grpc.HealthStub(channel)
            with self.assertRaises(grpc.RpcError) as unknown:
                stub.Check(health_pb2.HealthCheckRequest(service="other"))
            self.assertEqual(unknown.exception.code(), grpc.StatusCode.NOT_FOUND)
            watched = stub.Watch(health_pb2.HealthCheckRequest())
            self.assertEqual(next(watched).status, health_pb2.HealthCheckResponse.SERVING)
            health.stop()
            self.assertEqual(next(watched).status, health_pb2.HealthCheckResponse.NOT_SERVING)

    def test_an_address_of_health_that_is_in_use_or_none_is_refused_in_a_sentence(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            address = f"127.0.0.1:{taken.getsockname()[1]}"
            actor = self.start("--inference", "127.0.0.1:1", "--health", address)
            self.assertEqual(actor.wait(PATIENCE), 2)
        self.assertIn(f"error: --health {address}: the port is in use", actor.stdout.read())
        actor = self.start("--inference", "127.0.0.1:1", "--health", "127.0.0.1:http")
        self.assertEqual(actor.wait(PATIENCE), 2)
        self.assertIn("'127.0.0.1:http' has no port", actor.stdout.read())

    def test_a_file_of_servers_that_is_not_there_ends_the_program_for_good(self):
        actor = self.start("--inference-file", "/nowhere/servers")
        self.assertEqual(actor.wait(PATIENCE), 78)
        self.assertIn("error: /nowhere/servers cannot be read", actor.stdout.read())


if __name__ == "__main__":
    unittest.main()
