// SPDX-License-Identifier: Apache-2.0
// Faults as data: which requests go wrong, how, and how often. A set is {"faults": [..]}, with a
// "seed" if its draws are to differ from those of another set, and a fault
//
//   {"name": "busy", "path": "/redfish/v1/Systems/**",     a glob (glob.h) over the path
//    "method": "POST",                                     or any
//    "status": 503, "retry_after_seconds": 5,              one of status, latency_ms, drop,
//                                                          malformed
//    "probability": 0.2, "count": 3, "flap": {"fails": 2, "works": 3}}
//
// "status": the request is answered with this, 400 to 599, in the standard's words, and nothing
// else happens. 503 and 429 carry Retry-After, 5 s unless said. "latency_ms": the answer takes so
// much longer. "drop": no answer comes; "request" is lost before it took effect, "answer" after.
// "malformed": the JSON of the answer is "truncated", or "invalid" though whole. Only what has JSON
// is struck.
//
// Of the requests that fit, those strike that "flap" (the first `fails` do, the next `works` do
// not, and so on), the draw of "probability" and "count" (strikes at most) all let; what is not
// said lets all. Immutable.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "mockserver/messages/glob.h"
#include "mockserver/messages/message.h"
#include "platform/runtime/status.h"

namespace shoal::mockserver {

// The history's record of a fault that struck: Summary, "method", and "request", the number of the
// request since Reset or since the faults were set.
inline constexpr std::string_view kFaultRecord = "fault";

struct StatusFault {
  int status = 503;
  std::chrono::seconds retry_after{5};
};
struct LatencyFault {
  std::chrono::milliseconds latency{0};
};
enum class DropFault : std::uint8_t { kRequest, kAnswer };
enum class MalformedFault : std::uint8_t { kTruncated, kInvalid };

struct Flap {
  std::uint64_t fails = 1;
  std::uint64_t works = 1;
};

struct Fault {
  std::string name;
  Glob path;
  std::variant<StatusFault, LatencyFault, DropFault, MalformedFault> effect;
  // Nothing: any.
  std::optional<Method> method = {};
  double probability = 1.0;
  std::optional<std::uint64_t> count = {};
  std::optional<Flap> flap = {};

  // `path` is canonical.
  bool Fits(Method asked, std::string_view asked_path) const;
  // What the history says: {"name": .., "status": 503}, {"name": .., "drop": "answer"}.
  Json Summary() const;
};

class FaultSet {
 public:
  static constexpr std::size_t kMaximumFaults = 256;

  // INVALID_ARGUMENT naming the fault and its member; also when two have one name.
  static absl::StatusOr<std::shared_ptr<const FaultSet>> Parse(const Json& json);

  // What it was parsed from.
  const Json& json() const { return json_; }
  std::uint64_t seed() const { return seed_; }
  std::span<const Fault> faults() const { return faults_; }

 private:
  FaultSet(Json json, std::uint64_t seed, std::vector<Fault> faults);

  const Json json_;
  const std::uint64_t seed_;
  const std::vector<Fault> faults_;
};

}  // namespace shoal::mockserver
