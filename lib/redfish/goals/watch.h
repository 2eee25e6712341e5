// SPDX-License-Identifier: Apache-2.0
// What an episode is watched for after each request: whether the goal is reached, which of its
// requirements are open, which milestones are reached, and how many side effects there are.
//
// As JSON: {"predicate": X, "milestones": [X, ..], "allowed": [{"uri": U, "pointer": P}, ..]} with
// predicates X as in predicate.h. An allowed pointer covers everything below it, and a U that ends
// in "/*" covers all members of a collection. A Watch is immutable, and copies share everything;
// the caller's Progress holds what was seen.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/runtime/status.h"
#include "redfish/goals/predicate.h"
#include "redfish/schema/schema.h"

namespace shoal::redfish {

// A property of a resource.
struct PropertyPath {
  std::string uri;
  std::string pointer;
  auto operator<=>(const PropertyPath&) const = default;
};
// Writes {"uri": .., "pointer": ..}, for nlohmann's conversions.
void to_json(nlohmann::json& json, const PropertyPath& path);

// How far an episode has come with a goal.
struct Progress {
  bool satisfied = false;
  // Bit i is set once milestone i was reached, and stays set.
  std::uint64_t milestones = 0;
  // Bit i is set while requirement i does not hold. The last bit stands for all further ones.
  std::uint64_t open = 0;
  // The number of side effects that the watch does not allow: writable properties that differ from
  // the start, and resources that came or went.
  std::int64_t collateral = 0;
};

class Watch {
 public:
  static constexpr std::size_t kMaximumMilestones = 64;

  // INVALID_ARGUMENT naming the wrong part, or for more than kMaximumMilestones.
  static absl::StatusOr<Watch> Parse(nlohmann::json json);
  nlohmann::json ToJson() const;

  const Predicate& predicate() const { return parts_->predicate; }
  // Evaluates everything but side effects on `state`, and latches milestones.
  void Update(const StateView& state, Progress& progress) const;

  // Names the requirements that are open, each name once (Predicate::Summary). Those that share the
  // last bit have one name together.
  std::vector<std::string> OpenRequirements(const Progress& progress) const;

  // Returns whether a change of this property is within the side-effect budget.
  bool Allows(std::string_view uri, std::string_view pointer) const;

  std::size_t milestone_count() const { return parts_->milestones.size(); }
  // The allowed paths: those of single resources, sorted by URI, then those of members.
  std::vector<PropertyPath> allowed() const;

 private:
  // Pointers by URI.
  using Pointers = std::map<std::string, std::set<std::string>, std::less<>>;
  struct Parts {
    Predicate predicate;
    std::vector<Predicate> requirements = {};
    std::vector<Predicate> milestones = {};
    Pointers allowed = {};
    // The pointers for all members of a collection, by the collection's URI.
    Pointers allowed_of_members = {};
  };

  explicit Watch(Parts parts) : parts_(std::make_shared<const Parts>(std::move(parts))) {}
  static absl::Status ParseAllowed(const nlohmann::json& list, Parts& parts);

  std::shared_ptr<const Parts> parts_;
};

// Returns the pointers of the leaves that differ between two bodies of one resource. A member that
// one side lacks is one change; arrays are compared whole; members with '@' in their name are
// skipped.
std::vector<std::string> ChangedLeaves(const nlohmann::json& before, const nlohmann::json& after);

// Returns the side effects in one resource: changed leaves that the schema calls writable, and
// PowerState, which resets write, without those that `watch` allows. `after` names the type.
std::vector<std::string> SideEffects(const Schema& schema, const Watch& watch, std::string_view uri,
                                     const nlohmann::json& before, const nlohmann::json& after);

// A top-level member of a resource before and after a change; null where it is missing.
struct MemberChange {
  std::string_view name;
  const nlohmann::json* before = nullptr;
  const nlohmann::json* after = nullptr;
};

// Does the same for a resource of `type` in which only `changes` may differ.
std::vector<std::string> SideEffects(const Schema& schema, const Watch& watch, std::string_view uri,
                                     const std::string& type,
                                     std::span<const MemberChange> changes);

}  // namespace shoal::redfish
