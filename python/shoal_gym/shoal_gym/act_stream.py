# SPDX-License-Identifier: Apache-2.0
"""One stream of proto/act.proto to an inference server: rows go out in messages, answers come back."""
import queue
import threading

import grpc
import numpy

from shoal_gym import messages


class Refused(Exception):
    """The server will never take what was sent: another protocol, another spec, or rows that are wrong."""


class Disconnected(Exception):
    """The stream has ended, and another one may do better."""


# What a server says that would say it again.
_FINAL = (grpc.StatusCode.FAILED_PRECONDITION, grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.UNIMPLEMENTED)
_SECONDS_TO_WELCOME = 5


class ActStream:
    """Opens the stream and announces `spec`. Raises Disconnected when no server answers, and Refused when it takes
    another protocol or spec alone.

    `server_epoch` is the server's start; another epoch than before means that it has forgotten every environment. One
    thread uses the stream; close() ends it.
    """

    def __init__(self, channel, client, spec):
        self._outbox = queue.SimpleQueue()
        self._spec = spec
        self._call = channel.stream_stream(
            messages.ACT_METHOD, request_serializer=messages.ActRequest.SerializeToString,
            response_deserializer=messages.ActReply.FromString)(iter(self._outbox.get, None))
        hello = messages.ActRequest()
        hello.hello.protocol_version = messages.PROTOCOL_VERSION
        hello.hello.client = client
        hello.hello.spec.CopyFrom(spec)
        self._outbox.put(hello)
        self._replies = self._receive()
        too_late = threading.Timer(_SECONDS_TO_WELCOME, self._call.cancel)
        too_late.daemon = True
        too_late.start()
        try:
            welcome = next(self._replies).welcome
            if welcome.protocol_version != messages.PROTOCOL_VERSION:
                raise Refused(f"the inference server speaks protocol {welcome.protocol_version}, "
                              f"this actor speaks {messages.PROTOCOL_VERSION}")
        except BaseException:
            self.close()
            raise
        finally:
            too_late.cancel()
        self.server_epoch = welcome.server_epoch

    def send(self, rows, mode, delay=0.0):
        """Sends the rows in one message, `delay` seconds from now."""
        if not rows:
            return
        message = messages.ActRequest()
        out = message.rows
        out.environment_ids.extend(row.environment_id for row in rows)
        out.incarnations.extend(row.incarnation for row in rows)
        out.sequences.extend(row.sequence for row in rows)
        out.episode_ids.extend(row.episode_id for row in rows)
        out.modes.extend([mode] * len(rows))
        policies = sorted({row.policy for row in rows})
        if policies != ["current"]:
            out.policies.extend(messages.selector_of(policy) for policy in policies)
            out.policy_indices.extend(policies.index(row.policy) for row in rows)
        out.rewards.extend(row.reward for row in rows)
        out.flags.extend(row.flags for row in rows)
        announced = self._spec.observations[0]
        named = out.observations.add(name=announced.name)
        named.tensor.dtype = announced.dtype
        named.tensor.shape.extend([len(rows), *announced.shape])
        named.tensor.data = numpy.stack([row.observation for row in rows]).tobytes()
        if delay == 0:
            self._outbox.put(message)
            return
        timer = threading.Timer(delay, self._outbox.put, (message,))
        timer.daemon = True
        timer.start()

    def answers(self):
        """Yields for each message of the server its list of (environment_id, sequence, status, action, resumed).

        An action is a number, or for a box an array of float32. `resumed` is the episode to go on with, or None.

        Raises Refused for a row that the server finds wrong, and Disconnected when the stream ends.
        """
        for reply in self._replies:
            replies = reply.replies
            if messages.Status["ROW_INVALID"] in replies.statuses:
                raise Refused(f"the inference server refuses a row: {'; '.join(replies.errors)}")
            box = replies.actions.dtype == messages.DType["FLOAT32"]
            actions = numpy.frombuffer(replies.actions.data, dtype="<f4" if box else "<i8")
            actions = actions.reshape(tuple(replies.actions.shape)) if box else actions.tolist()
            episodes = iter(replies.resumed)
            resumed = [next(episodes) if status == messages.Status["ROW_RESUMED"] else None
                       for status in replies.statuses]
            yield list(zip(replies.environment_ids, replies.sequences, replies.statuses, actions, resumed, strict=True))

    def _receive(self):
        try:
            yield from self._call
        except grpc.RpcError as error:
            raise (Refused if error.code() in _FINAL else Disconnected)(error.details()) from error
        raise Disconnected("the server ended the stream")

    def close(self):
        self._outbox.put(None)
        self._call.cancel()
