// SPDX-License-Identifier: Apache-2.0
// A stream of bytes from one process to another that does nothing with them: what a transport can
// carry at most.
#pragma once

#include <cstddef>
#include <string>

#include "tests/bench/child.h"

namespace shoal::bench {

// Reads what one client writes until it ends. Listens at a path in the file system, or with "0" at
// a port of 127.0.0.1, and tells which.
void ServeSink(const std::string& listen, const Tell& tell);

// The writing end.
class OneWayStream {
 public:
  // Connects to what ServeSink has told. Messages have so many bytes.
  OneWayStream(const std::string& sink, std::size_t bytes);
  ~OneWayStream();
  OneWayStream(const OneWayStream&) = delete;
  OneWayStream& operator=(const OneWayStream&) = delete;

  // Writes for so many seconds, and returns the bytes per second.
  double Measure(double seconds);

 private:
  int socket_ = -1;
  const std::string message_;
};

}  // namespace shoal::bench
