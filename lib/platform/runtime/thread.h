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

// How much of the processors a thread claims while there are too few of them.

// The calling thread alone, and threads that it makes later, yield to others by `nice` (0 to 19,
// setpriority(2)): at 10 about a tenth of a processor that another thread wants whole. Where the
// system refuses, nothing changes.
void SetThreadNice(int nice);

}  // namespace shoal::runtime
