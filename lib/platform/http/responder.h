// SPDX-License-Identifier: Apache-2.0
// The right to answer one request later, from any thread: what ServerResponse::later is given.
//
//   return {.later = [this](http::Responder responder) {
//     queue_.Push([responder] { responder.Send({.status = 204}); });
//   }};
//
// Thread-safe, copyable; copies share the right. The first Send counts, others do nothing, as does
// a Send after the connection or the server has gone. When the last copy goes without a Send the
// peer gets 500, so no request hangs on a Responder that was lost.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "platform/http/message.h"

namespace shoal::http {

class Responder {
 public:
  // Takes the answer once, on whichever thread gives it; nullopt when there will be none.
  using Deliver = std::function<void(std::optional<ServerResponse>)>;

  explicit Responder(Deliver deliver);

  // The response may be a stream, or itself be deferred.
  void Send(ServerResponse response) const;

 private:
  class Right;
  std::shared_ptr<Right> right_;
};

}  // namespace shoal::http
