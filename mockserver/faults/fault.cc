// SPDX-License-Identifier: Apache-2.0
#include "mockserver/faults/fault.h"

#include <limits>
#include <type_traits>
#include <utility>

#include "mockserver/messages/json_object.h"

namespace shoal::mockserver {
namespace {

constexpr const char* kFaults = "faults";
constexpr const char* kTruncated = "truncated";
constexpr const char* kInvalid = "invalid";
constexpr const char* kRequest = "request";
constexpr const char* kAnswer = "answer";
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLongestLatency = std::int64_t{1000} * 60 * 10;
constexpr std::int64_t kLongestTask = std::int64_t{1000} * 60 * 60 * 24;
constexpr std::int64_t kLongestRetryAfter = 86'400;

// Reads one fault, member by member.
class FaultReader {
 public:
  explicit FaultReader(const Json& json) : json_(json) {}

  absl::StatusOr<Fault> Read() const {
    SHOAL_RETURN_IF_ERROR(CheckMembers(
        json_, {"name", "path", "method", "status", "retry_after_seconds", "latency_ms", "drop",
                "malformed", "task_ms", "probability", "count", "flap"}));
    SHOAL_ASSIGN_OR_RETURN(std::string name, NameMember(json_, "name"));
    SHOAL_ASSIGN_OR_RETURN(std::string path, NeededText(json_, "path"));
    absl::StatusOr<Glob> glob = Glob::Parse(std::move(path));
    if (!glob.ok()) return runtime::Annotate(glob.status(), "\"path\"");
    SHOAL_ASSIGN_OR_RETURN(auto effect, ReadEffect());
    Fault fault{.name = std::move(name), .path = *std::move(glob), .effect = effect};
    SHOAL_ASSIGN_OR_RETURN(fault.method, ReadMethod());
    SHOAL_RETURN_IF_ERROR(ReadSchedule(fault));
    return fault;
  }

 private:
  absl::StatusOr<std::optional<Method>> ReadMethod() const {
    SHOAL_ASSIGN_OR_RETURN(const std::string name, TextMember(json_, "method"));
    if (name.empty()) return std::nullopt;
    const Method method = ParseMethod(name);
    if (method == Method::kOther) {
      return runtime::InvalidArgument("\"method\" is one of HTTP's, or absent for any");
    }
    return method;
  }

  absl::StatusOr<decltype(Fault::effect)> ReadEffect() const {
    int effects = 0;
    for (const char* name : {"status", "latency_ms", "drop", "malformed", "task_ms"}) {
      effects += json_.contains(name) ? 1 : 0;
    }
    if (effects != 1) {
      return runtime::InvalidArgument(
          "needs one of \"status\", \"latency_ms\", \"drop\", \"malformed\" and \"task_ms\"");
    }
    if (json_.contains("status")) return ReadStatus();
    if (json_.contains("retry_after_seconds")) {
      return runtime::InvalidArgument("\"retry_after_seconds\" goes with \"status\"");
    }
    if (json_.contains("latency_ms")) {
      SHOAL_ASSIGN_OR_RETURN(
          const std::int64_t latency,
          IntegerMember(json_, "latency_ms", {.minimum = 1, .maximum = kLongestLatency}));
      return LatencyFault{std::chrono::milliseconds(latency)};
    }
    if (json_.contains("task_ms")) {
      SHOAL_ASSIGN_OR_RETURN(const std::int64_t duration,
                             IntegerMember(json_, "task_ms", {.maximum = kLongestTask}));
      return TaskFault{std::chrono::milliseconds(duration)};
    }
    if (json_.contains("drop")) {
      SHOAL_ASSIGN_OR_RETURN(const bool answer, IsSecond(json_, "drop", kRequest, kAnswer));
      return answer ? DropFault::kAnswer : DropFault::kRequest;
    }
    SHOAL_ASSIGN_OR_RETURN(const bool invalid, IsSecond(json_, "malformed", kTruncated, kInvalid));
    return invalid ? MalformedFault::kInvalid : MalformedFault::kTruncated;
  }

  absl::StatusOr<decltype(Fault::effect)> ReadStatus() const {
    SHOAL_ASSIGN_OR_RETURN(const std::int64_t status,
                           IntegerMember(json_, "status", {.minimum = 400, .maximum = 599}));
    SHOAL_ASSIGN_OR_RETURN(
        const std::int64_t retry_after,
        IntegerMember(json_, "retry_after_seconds", {.maximum = kLongestRetryAfter, .absent = 5}));
    return StatusFault{static_cast<int>(status), std::chrono::seconds(retry_after)};
  }

  absl::Status ReadSchedule(Fault& fault) const {
    if (const auto found = json_.find("probability"); found != json_.end()) {
      fault.probability = found->is_number() ? found->get<double>() : 0.0;
      if (!(fault.probability > 0.0 && fault.probability <= 1.0)) {
        return runtime::InvalidArgument("\"probability\" is above 0 and at most 1");
      }
    }
    if (json_.contains("count")) {
      SHOAL_ASSIGN_OR_RETURN(const std::int64_t count,
                             IntegerMember(json_, "count", {.minimum = 1, .maximum = kMost}));
      fault.count = static_cast<std::uint64_t>(count);
    }
    if (const auto found = json_.find("flap"); found != json_.end()) {
      absl::StatusOr<Flap> flap = ReadFlap(*found);
      if (!flap.ok()) return runtime::Annotate(flap.status(), "\"flap\"");
      fault.flap = *flap;
    }
    return absl::OkStatus();
  }

  static absl::StatusOr<Flap> ReadFlap(const Json& json) {
    constexpr IntegerRange kRange{.minimum = 1, .maximum = 1'000'000'000, .absent = 1};
    SHOAL_RETURN_IF_ERROR(CheckMembers(json, {"fails", "works"}));
    SHOAL_ASSIGN_OR_RETURN(const std::int64_t fails, IntegerMember(json, "fails", kRange));
    SHOAL_ASSIGN_OR_RETURN(const std::int64_t works, IntegerMember(json, "works", kRange));
    return Flap{static_cast<std::uint64_t>(fails), static_cast<std::uint64_t>(works)};
  }

  const Json& json_;
};

}  // namespace

bool Fault::Fits(Method asked, std::string_view asked_path) const {
  if (std::holds_alternative<TaskFault>(effect) && (IsSafe(asked) || asked == Method::kOther)) {
    return false;
  }
  return (!method || *method == asked) && path.Match(asked_path).has_value();
}

Json Fault::Summary() const {
  Json summary = {{"name", name}};
  std::visit(
      [&](const auto& kind) {
        using Kind = std::decay_t<decltype(kind)>;
        if constexpr (std::is_same_v<Kind, StatusFault>) {
          summary["status"] = kind.status;
        } else if constexpr (std::is_same_v<Kind, LatencyFault>) {
          summary["latency_ms"] = kind.latency.count();
        } else if constexpr (std::is_same_v<Kind, DropFault>) {
          summary["drop"] = kind == DropFault::kAnswer ? kAnswer : kRequest;
        } else if constexpr (std::is_same_v<Kind, TaskFault>) {
          summary["task_ms"] = kind.duration.count();
        } else {
          summary["malformed"] = kind == MalformedFault::kInvalid ? kInvalid : kTruncated;
        }
      },
      effect);
  return summary;
}

FaultSet::FaultSet(Json json, std::uint64_t seed, std::vector<Fault> faults)
    : json_(std::move(json)), seed_(seed), faults_(std::move(faults)) {}

absl::StatusOr<std::shared_ptr<const FaultSet>> FaultSet::Parse(const Json& json) {
  SHOAL_RETURN_IF_ERROR(CheckMembers(json, {kFaults, "seed"}));
  SHOAL_ASSIGN_OR_RETURN(const std::int64_t seed, IntegerMember(json, "seed", {.maximum = kMost}));
  SHOAL_ASSIGN_OR_RETURN(std::vector<Fault> faults,
                         ReadNamed(
                             json, kFaults, "fault", kMaximumFaults,
                             [](const Json& one) { return FaultReader(one).Read(); },
                             [](const Fault& fault) { return fault.name; }));
  return std::shared_ptr<const FaultSet>(
      new FaultSet(json, static_cast<std::uint64_t>(seed), std::move(faults)));
}

}  // namespace shoal::mockserver
