// SPDX-License-Identifier: Apache-2.0
// Decides which faults of a set strike which requests, and does to an answer what they say.
//
// A value; not thread-safe. Whether a fault strikes is a function of (seed of the instance, seed of
// the set, the fault's name, the number of the request since Restart) and of how many requests it
// fitted before: same seeds and same requests, same faults.
// Delays add up; of the others that would strike, the first of the set does and those after it are
// not asked.
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

// What strikes one request. Points into the set.
struct Strikes {
  std::vector<const Fault*> delays = {};
  // Beside delays, at most one.
  const Fault* fault = nullptr;
  // Of the request, from 1.
  std::uint64_t request = 0;

  bool empty() const { return delays.empty() && fault == nullptr; }
  std::chrono::milliseconds latency() const;
};

class FaultInjector {
 public:
  // Null: no faults.
  FaultInjector(std::shared_ptr<const FaultSet> faults, std::uint64_t seed);

  // All counts start anew.
  void Restart();

  bool empty() const { return faults_ == nullptr || faults_->faults().empty(); }
  const std::shared_ptr<const FaultSet>& faults() const { return faults_; }

  // Counts one request; `path` is canonical.
  Strikes Next(Method method, std::string_view path);

  // Spoils the body of an answer, one object of JSON, as `strikes.fault` says; false when there is
  // none. REQUIRES: that is a MalformedFault.
  bool Spoil(const Strikes& strikes, Response& response);

 private:
  // Of one fault.
  struct Count {
    std::uint64_t fitted = 0;
    std::uint64_t struck = 0;
  };

  bool Strike(const Fault& fault, Count& count) const;
  double UniformAt(const Fault& fault, std::uint64_t request, std::uint64_t purpose) const;

  std::shared_ptr<const FaultSet> faults_;
  std::uint64_t seed_ = 0;
  std::uint64_t requests_ = 0;
  // One a fault.
  std::vector<Count> counts_;
};

// What a request is answered that met `fault`: the standard's words for the status.
Response FaultResponse(const StatusFault& fault, std::string_view path);

}  // namespace shoal::mockserver
