// SPDX-License-Identifier: Apache-2.0
// What an episode wants to know of a service after each request: is the goal reached, which
// milestones, how many side effects.
//
// As JSON: {"predicate": X, "milestones": [X, ..], "allowed": [{"uri": U, "pointer": P}, ..]} with
// predicates X as in predicate.h. An allowed pointer covers all below it, a U that ends in "/*" all
// members of a collection. Immutable, copies share everything; what was reached so far is the
// caller's WatchState.
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
// {"uri": .., "pointer": ..}, for nlohmann's conversions.
void to_json(nlohmann::json& json, const PropertyPath& path);

struct WatchState {
  bool satisfied = false;
  // Bit i: milestone i was reached at some time. Once set, it stays.
  std::uint64_t milestones = 0;
};

class Watch {
 public:
  static constexpr std::size_t kMaximumMilestones = 64;

  // INVALID_ARGUMENT naming the part that is wrong, or more than kMaximumMilestones.
  static absl::StatusOr<Watch> Parse(nlohmann::json json);
  nlohmann::json ToJson() const;

  const Predicate& predicate() const { return parts_->predicate; }
  // Evaluates everything on `state` and latches milestones into `progress`.
  void Update(const StateView& state, WatchState& progress) const;

  // Whether a change of this property is within the side-effect budget.
  bool Allows(std::string_view uri, std::string_view pointer) const;

  std::size_t milestone_count() const { return parts_->milestones.size(); }
  // In the order of their URIs, those of single resources first.
  std::vector<PropertyPath> allowed() const;

 private:
  // Pointers by URI.
  using Pointers = std::map<std::string, std::set<std::string>, std::less<>>;
  struct Parts {
    Predicate predicate;
    std::vector<Predicate> milestones = {};
    Pointers allowed = {};
    // Of all members of a collection, by the collection's URI.
    Pointers allowed_of_members = {};
  };

  explicit Watch(Parts parts) : parts_(std::make_shared<const Parts>(std::move(parts))) {}
  static absl::Status ParseAllowed(const nlohmann::json& list, Parts& parts);

  std::shared_ptr<const Parts> parts_;
};

// Pointers of the leaves that differ between two bodies of one resource. A member that one side
// lacks is one change; arrays are compared whole; members with '@' in their name are skipped.
std::vector<std::string> ChangedLeaves(const nlohmann::json& before, const nlohmann::json& after);

// Side effects in one resource: changed leaves that the schema calls writable, and PowerState,
// which resets write, without those that `watch` allows. `after` names the type.
std::vector<std::string> SideEffects(const Schema& schema, const Watch& watch, std::string_view uri,
                                     const nlohmann::json& before, const nlohmann::json& after);

// A top-level member of a resource before and after; null where it was not or is not there.
struct MemberChange {
  std::string_view name;
  const nlohmann::json* before = nullptr;
  const nlohmann::json* after = nullptr;
};

// The same where only `changes` may differ, in a resource of `type`.
std::vector<std::string> SideEffects(const Schema& schema, const Watch& watch, std::string_view uri,
                                     const std::string& type,
                                     std::span<const MemberChange> changes);

}  // namespace shoal::redfish
