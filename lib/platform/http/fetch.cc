// SPDX-License-Identifier: Apache-2.0
#include "platform/http/fetch.h"

#include <boost/asio/io_context.hpp>
#include <utility>

namespace shoal::http {

namespace {

absl::StatusOr<ClientResponse> FetchWithin(const ClientOptions& options, ClientRequest request,
                                           std::chrono::milliseconds deadline) {
  boost::asio::io_context context(1);
  absl::StatusOr<ClientResponse> result =
      absl::DeadlineExceededError(options.address + ": no answer within the deadline");
  ClientConnection connection(context.get_executor(), options);
  connection.Send(std::move(request), [&](absl::StatusOr<ClientResponse> response) {
    result = std::move(response);
    context.stop();
  });
  context.run_for(deadline);
  return result;
}

}  // namespace

absl::StatusOr<ClientResponse> Fetch(const std::string& address, ClientRequest request,
                                     std::chrono::milliseconds deadline) {
  return FetchWithin(
      {.address = address, .connect_deadline = deadline, .request_deadline = deadline},
      std::move(request), deadline);
}

absl::StatusOr<ClientResponse> Fetch(const ClientOptions& options, ClientRequest request) {
  return FetchWithin(options, std::move(request),
                     2 * options.connect_deadline + options.request_deadline);
}

}  // namespace shoal::http
