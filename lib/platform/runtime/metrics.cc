// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/metrics.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <exception>

#include "platform/runtime/thread.h"

namespace shoal::runtime {
namespace {

// Connects to "host:port" and hangs up.
void Knock(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos) return;
  addrinfo hints = {};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(address.substr(0, colon).c_str(), address.substr(colon + 1).c_str(), &hints,
                    &found) != 0) {
    return;
  }
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor >= 0) {
    (void)::connect(descriptor, found->ai_addr, found->ai_addrlen);
    ::close(descriptor);
  }
  ::freeaddrinfo(found);
}

}  // namespace

Metrics::Metrics() : registry_(std::make_shared<prometheus::Registry>()) {}

// civetweb asks whether it shall stop when somebody connects, or every two seconds.
Metrics::~Metrics() {
  if (exposer_ == nullptr) return;
  std::atomic<bool> stopped = false;  // Sequentially consistent: nothing else is shared.
  Thread stopper("metrics-stop", [this, &stopped] {
    exposer_.reset();
    stopped = true;
  });
  while (!stopped) {
    Knock(address_);
    ::usleep(2000);
  }
}

prometheus::Counter& Metrics::Counter(const std::string& name, const std::string& help,
                                      const Labels& labels) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(*registry_).Add(labels);
}

prometheus::Gauge& Metrics::Gauge(const std::string& name, const std::string& help,
                                  const Labels& labels) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(*registry_).Add(labels);
}

prometheus::Histogram& Metrics::Histogram(const std::string& name, const std::string& help,
                                          const std::vector<double>& bounds, const Labels& labels) {
  return prometheus::BuildHistogram()
      .Name(name)
      .Help(help)
      .Register(*registry_)
      .Add(labels, bounds);
}

absl::Status Metrics::Expose(const std::string& address) {
  if (address.empty()) return absl::OkStatus();
  try {
    exposer_ = std::make_unique<prometheus::Exposer>(address, 1);
  } catch (const std::exception& error) {
    return FailedPrecondition("cannot serve metrics on " + address + ": " + error.what());
  }
  address_ = address;
  exposer_->RegisterCollectable(registry_);
  return absl::OkStatus();
}

std::vector<double> ExponentialBounds(double start, double factor, int count) {
  std::vector<double> bounds;
  for (int i = 0; i < count; ++i) {
    bounds.push_back(start);
    start *= factor;
  }
  return bounds;
}

}  // namespace shoal::runtime
