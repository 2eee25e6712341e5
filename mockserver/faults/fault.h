// SPDX-License-Identifier: Apache-2.0
// Faults as data: which requests go wrong, how, and how often. A set of faults is {"faults": [..]},
// optionally with a "seed" that makes its draws differ from those of another set. A fault is
//
//   {"name": "busy", "path": "/redfish/v1/Systems/**",     a glob (glob.h) over the path
//    "method": "POST",                                     optional; by default any method
//    "status": 503, "retry_after_seconds": 5,              exactly one of status, latency_ms,
//                                                          drop, malformed and task_ms
//    "probability": 0.2, "count": 3, "flap": {"fails": 2, "works": 3}}
//
// "status" answers the request with this status, 400 to 599, in the standard's words, and nothing
// else happens. 503 and 429 carry Retry-After, by default 5 s. "latency_ms" delays the answer.
// "drop" suppresses the answer: "request" loses the request before it takes effect, "answer" loses
// the answer after that. "malformed" makes the JSON of the answer "truncated", or "invalid" but
// complete; it strikes only answers that have JSON. "task_ms" is nothing that goes wrong, but what
// a service may do and few clients expect: a request that changes something and would succeed is
// answered with 202 and a Task (DSP0266, "Asynchronous operations"), whose work takes so long and
// may be over at once. It fits only POST, PATCH, PUT and DELETE. Requests that log in, that fail,
// that start a task anyway or are about tasks are answered as ever, and so are all on a service
// without tasks; none of them counts as struck.
//
// A fault strikes a matching request when "flap", "probability" and "count" all permit it; a member
// that is absent permits every strike. "flap" strikes the first `fails` matching requests, spares
// the next `works`, and so on. "count" is the maximum number of strikes. Faults are immutable.
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

// The kind of the history's record of a fault that struck. Its detail is the fault's Summary,
// "method", and "request", the number of the request since Reset or since the faults were set.
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
struct TaskFault {
  std::chrono::milliseconds duration{0};
};

struct Flap {
  std::uint64_t fails = 1;
  std::uint64_t works = 1;
};

struct Fault {
  std::string name;
  Glob path;
  std::variant<StatusFault, LatencyFault, DropFault, MalformedFault, TaskFault> effect;
  // Nothing means any method.
  std::optional<Method> method = {};
  double probability = 1.0;
  std::optional<std::uint64_t> count = {};
  std::optional<Flap> flap = {};

  // REQUIRES: `path` is canonical.
  bool Fits(Method asked, std::string_view asked_path) const;
  // Describes the fault for the history: {"name": .., "status": 503}, {"name": .., "drop":
  // "answer"}.
  Json Summary() const;
};

class FaultSet {
 public:
  static constexpr std::size_t kMaximumFaults = 256;

  // Returns INVALID_ARGUMENT naming the fault and its member, also when two faults have the same
  // name.
  static absl::StatusOr<std::shared_ptr<const FaultSet>> Parse(const Json& json);

  // The JSON that the set was parsed from.
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
