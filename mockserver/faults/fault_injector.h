// SPDX-License-Identifier: Apache-2.0
// Decides which faults of a set strike which requests, and applies a malformed fault to an answer.
//
// FaultInjector is a value and is not thread-safe. Whether a fault strikes depends only on the
// instance's seed, the set's seed, the fault's name, the number of the request since Restart, and
// the number of earlier requests that matched the fault. Equal seeds and requests give equal
// faults. Delays add up. The first other fault of the set that strikes ends the search: the faults
// after it are not consulted.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "mockserver/faults/fault.h"
#include "mockserver/messages/message.h"

namespace shoal::mockserver {

// The faults that strike one request. The pointers point into the set.
struct Strikes {
  std::vector<const Fault*> delays = {};
  // The fault other than delays, of which there is at most one.
  const Fault* fault = nullptr;
  // The number of the request, counted from 1.
  std::uint64_t request = 0;

  bool empty() const { return delays.empty() && fault == nullptr; }
  std::chrono::milliseconds latency() const;
};

class FaultInjector {
 public:
  // A null `faults` means no faults.
  FaultInjector(std::shared_ptr<const FaultSet> faults, std::uint64_t seed);

  // Resets all counts.
  void Restart();

  bool empty() const { return faults_ == nullptr || faults_->faults().empty(); }
  const std::shared_ptr<const FaultSet>& faults() const { return faults_; }

  // Counts one request and returns its faults. REQUIRES: `path` is canonical.
  Strikes Next(Method method, std::string_view path);

  // Takes the strike of `strikes.fault` back, which turned out to have no effect. REQUIRES: there
  // is one.
  void TakeBack(const Strikes& strikes);

  // Malforms the body of an answer, a JSON object or array, as `strikes.fault` says. Returns false
  // when there is no such body, and takes the strike back. REQUIRES: `strikes.fault` is a
  // MalformedFault.
  bool Spoil(const Strikes& strikes, Response& response);

 private:
  // The counts of one fault.
  struct Count {
    std::uint64_t fitted = 0;
    std::uint64_t struck = 0;
  };

  bool Strike(const Fault& fault, Count& count) const;
  double UniformAt(const Fault& fault, std::uint64_t request, std::uint64_t purpose) const;

  std::shared_ptr<const FaultSet> faults_;
  std::uint64_t seed_ = 0;
  std::uint64_t requests_ = 0;
  // Parallel to the faults of the set.
  std::vector<Count> counts_;
};

// Returns the answer to a request that `fault` strikes, in the standard's words for the status.
Response FaultResponse(const StatusFault& fault, std::string_view path);

}  // namespace shoal::mockserver
