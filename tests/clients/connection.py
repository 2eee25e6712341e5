# SPDX-License-Identifier: Apache-2.0
"""Sends plain requests over one persistent connection and adds nothing to them."""

from __future__ import annotations

import base64
import http.client
import json
from dataclasses import dataclass
from email.message import Message
from typing import Any, Iterator
from urllib.parse import urlsplit

ROOT = "/redfish/v1"
SESSIONS = f"{ROOT}/SessionService/Sessions"
FIRMWARE = f"{ROOT}/UpdateService/FirmwareInventory"
SUBSCRIPTIONS = f"{ROOT}/EventService/Subscriptions"
IMAGE = "http://images.example/installer.iso"


def basic(user: str, password: str) -> str:
    """Returns the value of an Authorization header."""
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Message
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300


class Connection:
    """An HTTP/1.1 connection to a service, as a context manager. Broken answers raise an error."""

    def __init__(self, address: str) -> None:
        self._http = http.client.HTTPConnection(address, timeout=10)

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *error: object) -> None:
        self._http.close()

    def send(self, method: str, uri: str, body: Any = None, **headers: str) -> Answer:
        """Sends `body` as JSON. Names of headers have underscores, as in If_Match."""
        lines = {name.replace("_", "-"): value for name, value in headers.items()}
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            lines.setdefault("Content-Type", "application/json")
        self._http.request(method, uri, body=data, headers=lines)
        response = self._http.getresponse()
        return Answer(response.status, response.headers, response.read())

    def get(self, uri: str, **headers: str) -> Any:
        """Returns the body of a resource, which must exist."""
        answer = self.send("GET", uri, **headers)
        if answer.status != 200:
            raise AssertionError(f"GET {uri}: {answer.status} {answer.body[:300]!r}")
        return answer.json

    def system(self) -> Any:
        """Returns the first computer system."""
        return self.get(self.get(f"{ROOT}/Systems")["Members"][0]["@odata.id"])

    def crawl(self) -> Iterator[tuple[str, Answer]]:
        """Yields every resource that links from the service root lead to, each once."""
        seen = {ROOT}
        waiting = [ROOT]
        while waiting:
            uri = waiting.pop()
            answer = self.send("GET", uri)
            yield uri, answer
            if answer.status != 200:
                continue
            for link in links(answer.json):
                if link not in seen:
                    seen.add(link)
                    waiting.append(link)


def links(value: Any) -> Iterator[str]:
    """Yields the paths below the service root in `value`, without fragment and trailing slash."""
    if isinstance(value, list):
        for element in value:
            yield from links(element)
    elif isinstance(value, dict):
        for name, member in value.items():
            is_link = name in ("@odata.id", "Members@odata.nextLink") and isinstance(member, str)
            path = urlsplit(member).path.rstrip("/") if is_link else ""
            if path.startswith(ROOT):
                yield path
            elif not is_link:
                yield from links(member)
