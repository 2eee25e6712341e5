// SPDX-License-Identifier: Apache-2.0
// Puts load on an HTTP/1.1 server. Each connection is kept open and has one request in flight; it
// sends the next one as soon as the answer is complete.
//
//   SHOAL_ASSIGN_OR_RETURN(const LoadResult result,
//                          RunLoad({.address = "127.0.0.1:8000", .next = Repeat(Get(uri))}));
//
// The caller's thread does all the work with one epoll. An answer costs it a recv, a look at status
// and length, and a send, about half of what the answer costs a server. Returns UNAVAILABLE if a
// connection breaks, and FAILED_PRECONDITION, which quotes the answer, if it is not 2xx or has no
// Content-Length.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"

namespace shoal::bench {

struct LoadOptions {
  // "host:port" with a numeric IPv4 host.
  std::string address;
  bool tls = false;
  std::size_t connections = 1;
  // If true, the client polls for answers and never sleeps. Then the server does not pay for waking
  // its client, which on loopback is a part of sending. Only for a client with a processor of its
  // own.
  bool spins = false;
  // Answers that come before the warm-up is over do not count.
  std::chrono::milliseconds warm_up{200};
  std::chrono::milliseconds duration{1000};
  // Returns the bytes of the next request, which stay valid until the next call.
  std::function<std::string_view()> next;
};

struct LoadResult {
  // Includes the requests of the warm-up.
  std::uint64_t requests_total = 0;
  double requests_per_second = 0;
  double p50_us = 0;
  double p99_us = 0;
};

absl::StatusOr<LoadResult> RunLoad(const LoadOptions& options);

// Returns the bytes of a GET.
std::string Get(std::string_view target);
std::function<std::string_view()> Repeat(std::string request);

// The least, the median and the greatest of some values.
struct Spread {
  double minimum = 0;
  double median = 0;
  double maximum = 0;
};
// REQUIRES: there is a value.
Spread SpreadOf(std::vector<double> values);

// Returns the processor time used so far by a process or by this thread, or 0 if the kernel does
// not say.
double ProcessorSeconds(int pid);
double ProcessorSecondsOfThisThread();

// Restricts this thread, and those that it starts from now on, to one processor.
void RunOn(int processor);

}  // namespace shoal::bench
