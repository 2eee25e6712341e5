# SPDX-License-Identifier: Apache-2.0
"""gRPC's standard health service, by which whoever runs containers knows whether an actor is ready."""
from concurrent import futures

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

_ALL = ""
_SECONDS_TO_END = 0.1


class HealthServer:
    """Answers at `address`, "host:port", from threads of its own: NOT_SERVING until set_serving(), and after stop() has
    begun. Raises OSError where the address is in use or not of this host."""

    def __init__(self, address):
        self._service = health.HealthServicer()
        self._service.set(_ALL, health_pb2.HealthCheckResponse.NOT_SERVING)
        self._server = grpc.server(futures.ThreadPoolExecutor(max_workers=1), options=[("grpc.so_reuseport", 0)])
        health_pb2_grpc.add_HealthServicer_to_server(self._service, self._server)
        try:
            bound = self._server.add_insecure_port(address)
        except RuntimeError:
            bound = 0
        if bound == 0:
            raise OSError("the port is in use or the address is not of this host")
        self._server.start()

    def set_serving(self):
        self._service.set(_ALL, health_pb2.HealthCheckResponse.SERVING)

    def stop(self):
        self._service.enter_graceful_shutdown()
        self._server.stop(_SECONDS_TO_END).wait()
