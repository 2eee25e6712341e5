// SPDX-License-Identifier: Apache-2.0
#include "platform/http/deadline.h"

#include <utility>

namespace shoal::http {

Deadline::Deadline(boost::asio::ip::tcp::socket socket)
    : guarded_(std::make_shared<Guarded>(std::move(socket))) {}

void Deadline::Set(std::chrono::milliseconds from_now) {
  guarded_->deadline = std::chrono::steady_clock::now() + from_now;
  if (guarded_->deadline < guarded_->armed) Arm(guarded_);
}

void Deadline::Clear() { guarded_->deadline = TimePoint::max(); }

void Deadline::Arm(const std::shared_ptr<Guarded>& guarded) {
  guarded->armed = guarded->deadline;
  guarded->timer.expires_at(guarded->armed);
  guarded->timer.async_wait(
      [weak = std::weak_ptr<Guarded>(guarded)](boost::system::error_code stopped) {
        const auto fired = weak.lock();
        if (stopped || fired == nullptr || !fired->socket.is_open()) return;
        fired->armed = TimePoint::max();
        if (fired->deadline == TimePoint::max()) return;
        if (fired->deadline > std::chrono::steady_clock::now()) return Arm(fired);
        fired->has_passed = true;
        boost::system::error_code ignored;
        fired->socket.close(ignored);
      });
}

void Deadline::Close() {
  boost::system::error_code ignored;
  guarded_->timer.cancel(ignored);
  guarded_->socket.close(ignored);
}

}  // namespace shoal::http
