// SPDX-License-Identifier: Apache-2.0
// Sends one request on a new connection and blocks until the answer, for tools and tests.
#pragma once

#include <chrono>
#include <string>

#include "platform/http/client_connection.h"
#include "platform/http/message.h"
#include "platform/runtime/status.h"

namespace shoal::http {

// Blocks for at most `deadline`, which includes connecting. Errors are those of ClientConnection.
absl::StatusOr<ClientResponse> Fetch(
    const std::string& address, ClientRequest request,
    std::chrono::milliseconds deadline = std::chrono::milliseconds(10'000));

// Blocks for at most the deadlines of `options`.
absl::StatusOr<ClientResponse> Fetch(const ClientOptions& options, ClientRequest request);

}  // namespace shoal::http
