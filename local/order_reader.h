// SPDX-License-Identifier: Apache-2.0
// Reads orders, one on each line, from a file descriptor on a thread of its own.
//
// The end of the input ends the thread, and so does the destructor, which waits for an order that
// is being carried out. The thread does not keep the descriptor open and does not close it.
#pragma once

#include <functional>
#include <string>

#include "platform/runtime/thread.h"

namespace shoal::local {

class OrderReader {
 public:
  // A longer line ends the reading: nobody gives such orders.
  static constexpr std::size_t kMaxBytes = 4096;

  // `on_order` gets each line without its end, from the reader's thread.
  OrderReader(int input, std::function<void(const std::string&)> on_order);
  ~OrderReader();
  OrderReader(const OrderReader&) = delete;
  OrderReader& operator=(const OrderReader&) = delete;

 private:
  void Run();

  const int input_;
  const std::function<void(const std::string&)> on_order_;
  const int end_;
  runtime::Thread thread_;
};

}  // namespace shoal::local
