// SPDX-License-Identifier: Apache-2.0
// Load on an HTTP/1.1 server: connections that are kept, each with one request under way and the
// next sent as soon as its answer is whole.
//
//   SHOAL_ASSIGN_OR_RETURN(const LoadResult result,
//                          RunLoad({.address = "127.0.0.1:8000", .next = Repeat(Get(uri))}));
//
// One thread, the caller's, and one epoll; an answer costs it a recv, a look at its status and its
// length, and a send: about half of what answering costs a server. UNAVAILABLE for a connection
// that breaks, FAILED_PRECONDITION quoting an answer that is no 2xx or has no Content-Length.
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
  // "host:port", a numeric IPv4 host.
  std::string address;
  bool tls = false;
  std::size_t connections = 1;
  // Asks for answers again and again in place of sleeping until one comes, so that the server is
  // not charged for waking its client, which on loopback is a part of sending. For a client with a
  // processor of its own.
  bool spins = false;
  // Answers before the warm-up is over do not count.
  std::chrono::milliseconds warm_up{200};
  std::chrono::milliseconds duration{1000};
  // The bytes of the next request; read until the next call.
  std::function<std::string_view()> next;
};

struct LoadResult {
  // With those of the warm-up.
  std::uint64_t requests_total = 0;
  double requests_per_second = 0;
  double p50_us = 0;
  double p99_us = 0;
};

absl::StatusOr<LoadResult> RunLoad(const LoadOptions& options);

// The bytes of a GET.
std::string Get(std::string_view target);
std::function<std::string_view()> Repeat(std::string request);

// The least, the middle and the greatest of some values.
struct Spread {
  double minimum = 0;
  double median = 0;
  double maximum = 0;
};
// REQUIRES: there is one.
Spread SpreadOf(std::vector<double> values);

// Processor time used so far, by a process or by this thread; 0 where the kernel does not say.
double ProcessorSeconds(int pid);
double ProcessorSecondsOfThisThread();

// Lets this thread, and those that it starts from now on, run on one processor alone.
void RunOn(int processor);

}  // namespace shoal::bench
