// SPDX-License-Identifier: Apache-2.0
// A named thread that its owner joins.
//
// An exception that leaves the body ends the process with a log line that names the thread.
#pragma once

#include <functional>
#include <string>
#include <thread>

namespace shoal::runtime {

class Thread {
 public:
  Thread() = default;
  // `name` is cut to 15 characters for the kernel.
  Thread(std::string name, std::function<void()> body);
  Thread(Thread&&) = default;
  // REQUIRES: this thread was joined or never started.
  Thread& operator=(Thread&&) = default;
  // Joins. Whoever makes the body return must have done so.
  ~Thread();

  void Join();
  bool joinable() const { return thread_.joinable(); }

 private:
  std::thread thread_;
};

}  // namespace shoal::runtime
