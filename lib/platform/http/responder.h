// SPDX-License-Identifier: Apache-2.0
// A Responder is the right to answer one request later, from any thread. ServerResponse::later
// receives it.
//
//   return {.later = [this](http::Responder responder) {
//     queue_.Push([responder] { responder.Send({.status = 204}); });
//   }};
//
// Thread-safe and copyable; copies share the right. The first Send answers. Further ones do
// nothing, and neither does a Send after the connection or the server has gone. When the last copy
// is destroyed without a Send, the peer gets 500, so no request hangs on a lost Responder.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "platform/http/message.h"

namespace shoal::http {

class Responder {
 public:
  // Receives the answer once, on the thread that gives it; nullopt means that there will be none.
  using Deliver = std::function<void(std::optional<ServerResponse>)>;

  explicit Responder(Deliver deliver);

  // The response may be a stream, or itself be deferred.
  void Send(ServerResponse response) const;

 private:
  class Right;
  std::shared_ptr<Right> right_;
};

}  // namespace shoal::http
