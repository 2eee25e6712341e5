// SPDX-License-Identifier: Apache-2.0
#include "http/fetch.h"

#include <boost/asio/io_context.hpp>
#include <utility>

#include "http/client_connection.h"

namespace shoal::http {

absl::StatusOr<ClientResponse> Fetch(const std::string& address, ClientRequest request,
                                     std::chrono::milliseconds deadline) {
  boost::asio::io_context context(1);
  absl::StatusOr<ClientResponse> result =
      absl::DeadlineExceededError(address + ": no answer within the deadline");
  ClientConnection connection(
      context.get_executor(),
      {.address = address, .connect_deadline = deadline, .request_deadline = deadline});
  connection.Send(std::move(request), [&](absl::StatusOr<ClientResponse> response) {
    result = std::move(response);
    context.stop();
  });
  context.run_for(deadline);
  return result;
}

}  // namespace shoal::http
