# SPDX-License-Identifier: Apache-2.0
"""The rows that the actor sends, against a server that answers as the test says."""
import collections
import json
import socket
import tempfile
import threading
import unittest
from concurrent import futures
from pathlib import Path

import gymnasium
import grpc
import numpy

import installed_package

FIRST, TERMINATED, TRUNCATED, FINAL = 1, 2, 4, 8
OK, ACCEPTED, INVALID, FENCED, OVERLOADED, RESUMED = 0, 1, 4, 5, 6, 8


def setUpModule():
    installed_package.folder()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Counting(gymnasium.Env):
    """Shows the number of the step. An episode ends after `length` steps, by itself where `terminates` is set."""

    observation_space = gymnasium.spaces.Box(0, 100, (1,), numpy.float32)
    action_space = gymnasium.spaces.Discrete(2, start=5)

    def __init__(self, length, terminates):
        self.length = length
        self.terminates = terminates
        self.actions = []
        self.seeds = []

    def _seen(self):
        return numpy.array([self.step_number], dtype=numpy.float32)

    def reset(self, *, seed=None, options=None):
        self.step_number = 0
        self.seeds.append(seed)
        return self._seen(), {}

    def step(self, action):
        self.step_number += 1
        self.actions.append(action)
        ended = self.step_number == self.length
        return self._seen(), float(self.step_number), ended and self.terminates, ended and not self.terminates, {}


class Server:
    """Speaks proto/act.proto. `judge(connection, row)` returns the status of a row, or None to end the stream.

    As in inference, a row that is put off puts off the later ones of its environment in that message, a row that was
    taken before is answered again and changes nothing, and a row ahead of its turn is wrong.
    """

    def __init__(self, test, judge):
        from shoal_gym import messages
        self.messages = messages
        self.judge = judge
        self.epoch = 1
        self.connections = 0
        # The episode that a row with the status RESUMED is answered with.
        self.resumed = None
        # The incarnation of each row that was taken.
        self.incarnations = []
        # (environment, sequence, flags, reward, number seen) of each row that was taken.
        self.taken = []
        # The policy that each row of an evaluation asks for.
        self.policies = []
        # By server epoch and environment, the sequence whose turn it is.
        self._turns = {}
        handler = grpc.stream_stream_rpc_method_handler(
            self._act, request_deserializer=messages.ActRequest.FromString,
            response_serializer=messages.ActReply.SerializeToString)
        server = grpc.server(futures.ThreadPoolExecutor(4))
        methods = grpc.method_handlers_generic_handler("shoal.proto.Inference", {"Act": handler})
        server.add_generic_rpc_handlers([methods])
        self.address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
        server.start()
        test.addCleanup(lambda: server.stop(None).wait())

    def _act(self, requests, context):
        self.connections += 1
        connection = self.connections
        assert next(requests).HasField("hello")
        reply = self.messages.ActReply()
        reply.welcome.protocol_version = self.messages.PROTOCOL_VERSION
        reply.welcome.server_epoch = self.epoch
        yield reply
        for request in requests:
            reply = self._reply(connection, request.rows)
            if reply is None:
                return
            yield reply

    def _reply(self, connection, rows):
        reply = self.messages.ActReply()
        numbers = numpy.frombuffer(rows.observations[0].tensor.data, dtype=numpy.float32)
        columns = zip(rows.environment_ids, rows.sequences, rows.flags, rows.rewards, numbers.tolist(), strict=True)
        self.policies += [rows.policies[index] for index in rows.policy_indices]
        put_off = set()
        for row, incarnation in zip(columns, rows.incarnations, strict=True):
            status = OVERLOADED if row[0] in put_off else self.judge(connection, row)
            if status is None:
                return None
            if status == OVERLOADED:
                put_off.add(row[0])
            if status == OK:
                self.incarnations.append(incarnation)
                status = self._take(row)
            if status == RESUMED:
                reply.replies.resumed.append(self.resumed)
                self._turns.pop((self.epoch, row[0]), None)
            reply.replies.environment_ids.append(row[0])
            reply.replies.sequences.append(row[1])
            reply.replies.statuses.append(status)
        reply.replies.actions.data = numpy.ones(len(rows.sequences), dtype="<i8").tobytes()
        return reply

    def _take(self, row):
        environment, sequence, flags, _, _ = row
        turn = self._turns.get((self.epoch, environment), sequence)
        if sequence > turn:
            return INVALID
        if sequence == turn:
            self.taken.append(row)
            self._turns[self.epoch, environment] = turn + 1
        return ACCEPTED if flags & (TERMINATED | TRUNCATED) else OK

    def rows_of(self, environment_id):
        return [row[1:] for row in self.taken if row[0] == environment_id]


def play(test, servers, environments, is_done, metrics=None):
    """Plays until `is_done(steps)`, at most 20 s. Returns the episodes that ended."""
    from shoal_gym import actor, environment, episode_player
    from shoal_gym.metrics import ActorMetrics
    metrics = metrics or ActorMetrics()
    ended = episode_player.EndedEpisodes(100, lambda _, steps, total: metrics.count_episode(steps, total))
    players = [episode_player.EpisodePlayer(made, number, (1, number), episode_player.OwnEpisodes(), ended)
               for number, made in enumerate(environments)]
    playing = actor.Actor(servers, environment.spec_of(environments[0]), players, ended, False, is_done, metrics)
    thread = threading.Thread(target=playing.run, daemon=True)
    thread.start()
    thread.join(20)
    test.assertFalse(thread.is_alive())
    return ended


class ProtocolTest(unittest.TestCase):
    def play(self, server, environments, steps):
        from shoal_gym.inference_servers import InferenceServers
        return play(self, InferenceServers(server.address), environments, lambda taken: taken >= steps)

    def test_an_episode_is_a_first_row_rows_with_rewards_and_an_end_row(self):
        server = Server(self, lambda connection, row: OK)
        terminating, truncating = Counting(2, True), Counting(2, False)
        ended = self.play(server, [terminating, truncating], 8)
        self.assertEqual(server.rows_of(0)[:4], [
            (0, FIRST, 0.0, 0.0), (1, 0, 1.0, 1.0), (2, TERMINATED, 2.0, 0.0), (3, FIRST, 0.0, 0.0)])
        self.assertEqual(server.rows_of(1)[:4], [
            (0, FIRST, 0.0, 0.0), (1, 0, 1.0, 1.0), (2, TRUNCATED | FINAL, 2.0, 2.0), (3, FIRST, 0.0, 0.0)])
        # Action 1 is the second one of a space that starts at 5.
        self.assertEqual(set(terminating.actions), {6})
        self.assertEqual(ended.mean_return(), 3.0)

    def evaluate(self, server, environments_played, episodes, policies, seconds=0):
        """Returns the lines that the evaluation writes."""
        from shoal_gym import actor, environment as environments, episode_player, evaluation_log, metrics
        from shoal_gym.inference_servers import InferenceServers
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "evaluations/some.jsonl"
            log = evaluation_log.EvaluationLog(path, "Counting", episodes * len(policies))
            self.addCleanup(log.close)
            ended = episode_player.EndedEpisodes(100, log.add)
            shared = episode_player.SharedEpisodes(episodes, policies, seconds)
            players = [episode_player.EpisodePlayer(made, number, (1, 0), shared, ended)
                       for number, made in enumerate(environments_played)]
            playing = actor.Actor(InferenceServers(server.address), environments.spec_of(environments_played[0]),
                                  players, ended, True, lambda _: False, metrics.ActorMetrics())
            thread = threading.Thread(target=playing.run, daemon=True)
            thread.start()
            thread.join(20)
            self.assertFalse(thread.is_alive())
            return [json.loads(line) for line in path.read_text().splitlines()]

    def test_an_evaluation_plays_the_same_episodes_under_each_policy_and_writes_them(self):
        server = Server(self, lambda connection, row: OK)
        environment = Counting(2, True)
        lines = self.evaluate(server, [environment], 2, ["current", "1.27"])
        self.assertEqual(lines[0], {"pairs": 1, "episodes": 4})
        self.assertEqual([(line["policy"], line["episode"], line["steps"], line["return"]) for line in lines[1:]],
                         [("current", 0, 2, 3.0), ("1.27", 0, 2, 3.0), ("current", 1, 2, 3.0), ("1.27", 1, 2, 3.0)])
        self.assertEqual(environment.seeds[0], environment.seeds[1])
        self.assertNotEqual(environment.seeds[0], environment.seeds[2])
        pinned = [policy for policy in server.policies if policy.HasField("pinned")]
        self.assertEqual({(policy.pinned.epoch, policy.pinned.step) for policy in pinned}, {(1, 27)})

    def test_an_evaluation_without_time_plays_the_first_episode_of_each_policy(self):
        lines = self.evaluate(Server(self, lambda connection, row: OK), [Counting(2, True)], 5, ["initial", "uniform"],
                              seconds=1e-9)
        self.assertEqual([(line["policy"], line["episode"]) for line in lines[1:]], [("initial", 0), ("uniform", 0)])

    def test_an_episode_of_an_evaluation_that_a_server_forgot_is_played_again(self):
        def judge(connection, row):
            if connection == 1 and row[1] == 4:
                server.epoch = 2
                return None
            return OK

        server = Server(self, judge)
        lines = self.evaluate(server, [Counting(10, True)], 2, ["current"])
        self.assertEqual([line["episode"] for line in lines[1:]], [0, 1])
        self.assertEqual(lines[1]["return"], 55)

    def test_an_episode_of_an_evaluation_that_a_newer_actor_ended_is_played_by_another_environment(self):
        # The second environment is alone when it comes to its last row, and the first one rests.
        server = Server(self, lambda connection, row: FENCED if row[:2] == (1, 8) else OK)
        lines = self.evaluate(server, [Counting(2, True), Counting(9, True)], 2, ["current"])
        self.assertEqual([(line["episode"], line["steps"]) for line in lines[1:]], [(0, 2), (1, 2)])
        self.assertEqual(len(server.rows_of(1)), 8)

    def test_an_evaluation_that_is_told_of_another_episode_plays_its_own_again(self):
        server = Server(self, lambda connection, row: RESUMED if row[1] == 0 else OK)
        server.resumed = server.messages.ActReply().replies.resumed.add(
            episode_id=9, incarnation=77, next_sequence=30, actions=[0, 1])
        lines = self.evaluate(server, [Counting(3, True)], 2, ["current"])
        self.assertEqual([(line["episode"], line["steps"]) for line in lines[1:]], [(0, 3), (1, 3)])
        self.assertEqual(server.rows_of(0)[0], (31, FIRST, 0.0, 0.0))

    def test_episodes_differ_and_are_the_same_again_with_the_same_seed(self):
        seeds = []
        for _ in range(2):
            environment = Counting(2, True)
            self.play(Server(self, lambda connection, row: OK), [environment], 12)
            seeds.append(environment.seeds[:6])
        self.assertEqual(seeds[0], seeds[1])
        self.assertEqual(len(set(seeds[0])), 6)

    def test_rows_that_a_busy_server_puts_off_come_again_in_order(self):
        asked = collections.Counter()

        def judge(connection, row):
            asked[row[:2]] += 1
            return OVERLOADED if row[1] % 3 == 0 and asked[row[:2]] < 3 else OK

        server = Server(self, judge)
        self.play(server, [Counting(3, True), Counting(4, False)], 60)
        for environment in (0, 1):
            sequences = [row[0] for row in server.rows_of(environment)]
            self.assertEqual(sequences, list(range(len(sequences))))
            self.assertGreater(len(sequences), 20)

    def test_after_a_lost_stream_the_same_server_gets_the_unanswered_rows_again(self):
        server = Server(self, lambda connection, row: None if connection == 1 and row[1] == 4 else OK)
        self.play(server, [Counting(10, True)], 20)
        sequences = [row[0] for row in server.rows_of(0)]
        self.assertEqual(server.connections, 2)
        self.assertEqual(sequences, list(range(len(sequences))))

    def test_a_server_that_forgot_everything_gets_new_episodes(self):
        def judge(connection, row):
            if connection == 1 and row[1] == 4:
                server.epoch = 2
                return None
            return OK

        server = Server(self, judge)
        self.play(server, [Counting(10, True)], 20)
        self.assertEqual([row[:2] for row in server.rows_of(0)][4], (5, FIRST))

    def resumed(self, episode_id, actions, length):
        """Plays where the first row is answered with an episode that goes on. Returns server and environment."""
        server = Server(self, lambda connection, row: RESUMED if row[1] == 0 else OK)
        server.resumed = server.messages.ActReply().replies.resumed.add(
            episode_id=episode_id, incarnation=77, next_sequence=30, actions=actions)
        environment = Counting(length, True)
        self.play(server, [environment], 8)
        return server, environment

    def test_an_episode_that_goes_on_is_begun_again_up_to_the_row_that_is_wanted(self):
        server, environment = self.resumed(3, [0, 1, 0], 5)
        self.assertEqual(server.rows_of(0)[:3], [(30, 0, 3.0, 3.0), (31, 0, 4.0, 4.0), (32, TERMINATED, 5.0, 0.0)])
        self.assertEqual(set(server.incarnations), {77})
        self.assertEqual(environment.actions[:3], [5, 6, 5])
        # Episodes 0, 2 again and 3: the third one's seed is that of the third episode of another actor.
        other = Counting(5, True)
        self.play(Server(self, lambda connection, row: OK), [other], 25)
        self.assertEqual(environment.seeds[:3], [other.seeds[i] for i in (0, 2, 3)])

    def test_an_end_and_a_beginning_that_are_both_answered_with_an_episode_that_goes_on_begin_it_once(self):
        asked = collections.Counter()

        def judge(connection, row):
            asked[row[1]] += 1
            return RESUMED if row[1] in (2, 3) else OK

        server = Server(self, judge)
        server.resumed = server.messages.ActReply().replies.resumed.add(
            episode_id=1, incarnation=77, next_sequence=30, actions=[1])
        self.play(server, [Counting(2, True)], 6)
        self.assertEqual(asked[30], 1)

    def test_an_episode_that_ended_earlier_than_it_should_is_followed_by_another_one(self):
        server, _ = self.resumed(3, [0, 1, 0, 1], 2)
        self.assertEqual(server.rows_of(0)[0], (31, FIRST, 0.0, 0.0))

    def test_an_environment_that_a_newer_actor_plays_is_left_alone(self):
        server = Server(self, lambda connection, row: FENCED if row[:2] == (0, 3) else OK)
        self.play(server, [Counting(10, True), Counting(10, True)], 30)
        self.assertEqual(len(server.rows_of(0)), 3)
        self.assertGreater(len(server.rows_of(1)), 20)


if __name__ == "__main__":
    unittest.main()
