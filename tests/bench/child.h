// SPDX-License-Identifier: Apache-2.0
// A child of a bench, which serves at an address, and the processor time of processes. Make
// children before any thread: a child is forked and goes on with one thread.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

namespace shoal::bench {

// Returns the time that a process took in user and kernel mode, in seconds.
double ProcessorSecondsOf(pid_t pid);

// Takes the address at which a child serves.
using Tell = std::function<void(const std::string&)>;

// A child process of this one, which ends with it or before it.
class Child {
 public:
  // `serve` runs in the child, tells its address, and returns when the descriptor that it is given
  // ends.
  explicit Child(const std::function<void(const Tell& tell, int life)>& serve);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  const std::string& address() const { return address_; }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = 0;
  int life_ = -1;
  std::string address_;
};

}  // namespace shoal::bench
