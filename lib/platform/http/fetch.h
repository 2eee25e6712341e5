// SPDX-License-Identifier: Apache-2.0
// One request on a connection of its own, waiting for the answer: for tools and tests.
#pragma once

#include <chrono>
#include <string>

#include "platform/http/client_connection.h"
#include "platform/http/message.h"
#include "platform/runtime/status.h"

namespace shoal::http {

// Blocks at most `deadline`, connecting included. Errors are those of ClientConnection.
absl::StatusOr<ClientResponse> Fetch(
    const std::string& address, ClientRequest request,
    std::chrono::milliseconds deadline = std::chrono::milliseconds(10'000));

// Blocks at most the deadlines of `options`.
absl::StatusOr<ClientResponse> Fetch(const ClientOptions& options, ClientRequest request);

}  // namespace shoal::http
