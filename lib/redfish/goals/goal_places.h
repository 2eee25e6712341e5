// SPDX-License-Identifier: Apache-2.0
// Places are resources that a goal refers to by name. They are found in a capture by links.
// Conditions, starts and the plan refer to them as "$name".
//
//   "$bios"                    the URI of the place; "$bios/Settings" appends the rest to it
//   "$members:sessions"        the URIs of the captured members of a collection
//   "$members:volumes:-boot"   the same without the place "boot"
//   "$values:accounts:/UserName"  the members' values at a pointer
//
// An optional place that is absent has the URI kAbsent, where nothing is.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"
#include "redfish/capture/capture.h"
#include "redfish/capture/landmarks.h"
#include "redfish/goals/predicate.h"

namespace shoal::redfish {

inline constexpr std::string_view kAbsent = "/absent";

struct GoalPlace {
  std::string name;
  // A landmark, "root", or a place that is declared before.
  std::string from;
  // Pointers to links, followed one after the other.
  std::vector<std::string> links;
  // A condition on a member of the collection that the links lead to; it may name earlier places as
  // "$name". Null means that the place is the resource itself.
  nlohmann::json member;
  // The index, from 0, among the members that fulfil the condition.
  std::int64_t nth = 0;
  // Whether the goal applies without the place.
  bool optional = false;
  bool operator==(const GoalPlace&) const = default;
};

// URIs by place name.
using Places = std::map<std::string, std::string, std::less<>>;

// A capture as conditions see it: the history is empty, and no password is known.
class CapturedState final : public StateView {
 public:
  explicit CapturedState(const Capture& capture) : capture_(capture) {}
  const nlohmann::json* Find(std::string_view uri) const override { return capture_.Find(uri); }
  const std::vector<HistoryRecord>& history() const override { return none_; }

 private:
  const Capture& capture_;
  const std::vector<HistoryRecord> none_;
};

// Returns the landmarks, "root" and `places`. NOT_FOUND naming a required place that is absent,
// INVALID_ARGUMENT for a "from" or a name in a condition that is neither a landmark nor an earlier
// place.
absl::StatusOr<Places> FindPlaces(const std::vector<GoalPlace>& places, const Landmarks& landmarks,
                                  const Capture& capture);

// Returns the captured members of a collection that fulfil a condition on a resource, in order; all
// of them when it is null. INVALID_ARGUMENT when `condition` is no condition, as when a name in it
// was replaced by a list.
absl::StatusOr<std::vector<std::string>> MembersWhere(const Capture& capture,
                                                      const std::string& collection,
                                                      const nlohmann::json& condition);

// Returns `json` with every text that begins with '$' replaced by what it names; "$each" and the
// names in `later` stay. INVALID_ARGUMENT naming a text that names no place.
absl::StatusOr<nlohmann::json> PutPlaces(const nlohmann::json& json, const Places& places,
                                         const Capture& capture,
                                         const std::vector<std::string>& later = {});

}  // namespace shoal::redfish
