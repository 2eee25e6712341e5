// SPDX-License-Identifier: Apache-2.0
// One request that a service offers: method, URI and body, the body perhaps with slots.
//
// A slot is a value that only the goal knows: "<goal.AssetTag>" in the body, after its property,
// bound when the request is sent. As the one element of a list it stands for the list, however
// long.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "platform/content/content_key.h"
#include "platform/runtime/random.h"
#include "redfish/schema/schema.h"

namespace shoal::redfish {

// Lets the service's clock run; no request is sent.
inline constexpr const char* kWaitMethod = "WAIT";

struct Slot {
  // The property's name, "AssetTag", without "goal.".
  std::string name;
  // The slot's place in the body: "/NTP/NTPServers/0".
  std::string pointer;
  PropertyKind kind = PropertyKind::kString;
  StringFormat format = StringFormat::kPlain;
  std::optional<double> minimum;
  std::optional<double> maximum;
};

struct Candidate {
  // "GET", "PATCH", "POST", "DELETE" or kWaitMethod.
  std::string method;
  // The canonical URI, which for an action is the action's target; empty for `wait`.
  std::string uri;
  // The @odata.type of the resource, and its Name.
  std::string type;
  std::string name;
  // "ComputerSystem.Reset"; empty for what is no action.
  std::string action;
  // null when the request has none.
  nlohmann::json body;
  std::vector<Slot> slots;

  // Canonical JSON of {method, uri, type, name, action, body}, and its key. Set by Seal.
  std::string text;
  content::ContentKey key;

  bool IsMutation() const { return method != "GET" && method != kWaitMethod; }
  // Fills `text` and `key` from the other members.
  void Seal();
};

// "<goal.AssetTag>".
std::string SlotText(const std::string& name);

// The values that a goal gives to slots, by slot name.
using SlotValues = std::map<std::string, nlohmann::json>;

// The body to send: each slot gets the goal's value, or, when the goal has none or one of another
// type, a random value of its type from `random`. null for a candidate without a body.
nlohmann::json BindSlots(const Candidate& candidate, const SlotValues& values,
                         runtime::Random& random);

}  // namespace shoal::redfish
