// SPDX-License-Identifier: Apache-2.0
// Blocking TCP with deadlines: whole buffers or an error.
//
// Sockets are plain descriptors; the caller closes them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "platform/runtime/status.h"

namespace shoal::collectives {

using Deadline = std::chrono::steady_clock::time_point;

// UNAVAILABLE when the peer is gone, DEADLINE_EXCEEDED when it is late; messages begin with `peer`.
// SendAll is UNAVAILABLE too when the peer has stopped reading and has sent something instead.
absl::Status SendAll(int socket, std::span<const std::byte> bytes, Deadline deadline,
                     const std::string& peer);
absl::Status ReceiveAll(int socket, std::span<std::byte> bytes, Deadline deadline,
                        const std::string& peer);

// Waits until one of the sockets has something to read, or is closed; its place in `sockets`.
// DEADLINE_EXCEEDED when none has, with a message that begins with `peers`.
absl::StatusOr<std::size_t> AwaitReadable(std::span<const int> sockets, Deadline deadline,
                                          const std::string& peers);

// FAILED_PRECONDITION naming the address. Port 0: any free one; `port` is then what was bound.
absl::StatusOr<int> Listen(const std::string& address, std::uint16_t& port);
// DEADLINE_EXCEEDED when nobody comes.
absl::StatusOr<int> Accept(int listener, Deadline deadline);
// Tries again until the deadline while the peer does not listen yet.
absl::StatusOr<int> ConnectTo(const std::string& address, std::uint16_t port, Deadline deadline);

}  // namespace shoal::collectives
