// SPDX-License-Identifier: Apache-2.0
#include "platform/http/mailbox.h"

#include <boost/asio/post.hpp>
#include <utility>

namespace shoal::http {

void Mailbox::Post(std::function<void()> work) {
  const runtime::MutexLock lock(mutex_);
  if (context_ != nullptr) boost::asio::post(*context_, std::move(work));
}

void Mailbox::Close() {
  const runtime::MutexLock lock(mutex_);
  context_ = nullptr;
}

}  // namespace shoal::http
