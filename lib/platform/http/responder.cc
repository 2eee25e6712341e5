// SPDX-License-Identifier: Apache-2.0
#include "platform/http/responder.h"

#include <atomic>
#include <utility>

namespace shoal::http {

class Responder::Right {
 public:
  explicit Right(Deliver deliver) : deliver_(std::move(deliver)) {}
  ~Right() { Use(std::nullopt); }
  Right(const Right&) = delete;
  Right& operator=(const Right&) = delete;

  void Use(std::optional<ServerResponse> response) {
    // Relaxed suffices: the flag only decides which call is first.
    if (!used_.exchange(true, std::memory_order_relaxed)) deliver_(std::move(response));
  }

 private:
  const Deliver deliver_;
  std::atomic<bool> used_{false};
};

Responder::Responder(Deliver deliver) : right_(std::make_shared<Right>(std::move(deliver))) {}

void Responder::Send(ServerResponse response) const { right_->Use(std::move(response)); }

}  // namespace shoal::http
