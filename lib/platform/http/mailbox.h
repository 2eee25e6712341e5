// SPDX-License-Identifier: Apache-2.0
// A mailbox posts work to a worker's thread from any other thread, which may outlive the worker.
//
// Thread-safe.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>

#include "platform/runtime/mutex.h"

namespace shoal::http {

class Mailbox {
 public:
  // Borrows `context` until Close.
  explicit Mailbox(boost::asio::io_context& context) : context_(&context) {}
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  // Makes the context run `work`, never from within Post; after Close the work is dropped.
  void Post(std::function<void()> work) ABSL_LOCKS_EXCLUDED(mutex_);
  void Close() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  runtime::Mutex mutex_;
  boost::asio::io_context* context_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace shoal::http
