// SPDX-License-Identifier: Apache-2.0
// A named thread that its owner joins.
//
// An exception that leaves the body ends the process with a message that names the thread.
#pragma once

#include <functional>
#include <string>
#include <thread>

namespace shoal::runtime {

class Thread {
 public:
  Thread() = default;
  // The kernel sees the first 15 characters of `name`.
  Thread(std::string name, std::function<void()> body);
  Thread(Thread&&) = default;
  // REQUIRES: this thread was joined or never started.
  Thread& operator=(Thread&&) = default;
  // Joins. The owner must have made the body return before; otherwise this waits for ever.
  ~Thread();

  void Join();
  bool joinable() const { return thread_.joinable(); }

 private:
  std::thread thread_;
};

// These functions say how much of the processors a thread claims while there are too few of them.

// Lowers the priority of the calling thread, and of threads that it makes later, by `nice` (0 to
// 19, setpriority(2)). At 10 the thread gets about a tenth of a processor that another thread wants
// whole. Where the system refuses, nothing changes.
void SetThreadNice(int nice);

}  // namespace shoal::runtime
