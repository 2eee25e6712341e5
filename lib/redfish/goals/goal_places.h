// SPDX-License-Identifier: Apache-2.0
// Resources that a goal speaks of by name, found in a capture by links; "$name" in its conditions,
// starts and plan.
//
//   "$bios"                    the URI of the place; "$bios/Settings" has what follows it appended
//   "$members:sessions"        the URIs of the members of a collection, as they were captured
//   "$members:volumes:-boot"   the same without the place "boot"
//   "$values:accounts:/UserName"  the members' values at a pointer
// Places that are optional and absent are at kAbsent, where nothing is.
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
  // A landmark, "root", or a place further up.
  std::string from;
  // Pointers to links, followed one after the other.
  std::vector<std::string> links;
  // A condition on a member of what the links lead to, in which places further up go by "$name";
  // null: that itself is the place.
  nlohmann::json member;
  // Which of the members that it holds of, from 0.
  std::int64_t nth = 0;
  // The goal applies without it.
  bool optional = false;
  bool operator==(const GoalPlace&) const = default;
};

// URIs by name.
using Places = std::map<std::string, std::string, std::less<>>;

// A capture as conditions see it: nothing has happened, no password is known.
class CapturedState final : public StateView {
 public:
  explicit CapturedState(const Capture& capture) : capture_(capture) {}
  const nlohmann::json* Find(std::string_view uri) const override { return capture_.Find(uri); }
  const std::vector<HistoryRecord>& history() const override { return none_; }

 private:
  const Capture& capture_;
  const std::vector<HistoryRecord> none_;
};

// The landmarks, "root" and `places`. NOT_FOUND naming one that is needed and absent,
// INVALID_ARGUMENT for a "from" or a name in a condition that is neither.
absl::StatusOr<Places> FindPlaces(const std::vector<GoalPlace>& places, const Landmarks& landmarks,
                                  const Capture& capture);

// The captured members of a collection that a condition on a resource holds of, in order; all of
// them when it is null. INVALID_ARGUMENT when it is no condition, as with a list put in place of a
// name.
absl::StatusOr<std::vector<std::string>> MembersWhere(const Capture& capture,
                                                      const std::string& collection,
                                                      const nlohmann::json& condition);

// `json` with every text that begins with '$' led to what it names, "$each" and names in `later`
// left as they are. INVALID_ARGUMENT naming one that is none.
absl::StatusOr<nlohmann::json> PutPlaces(const nlohmann::json& json, const Places& places,
                                         const Capture& capture,
                                         const std::vector<std::string>& later = {});

}  // namespace shoal::redfish
