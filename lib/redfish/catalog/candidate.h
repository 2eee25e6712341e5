// SPDX-License-Identifier: Apache-2.0
// A candidate is one request that a service offers: method, URI and body. The body may have slots.
// A candidate that composes begins a request whose body is put together from parts.
//
// A slot is a value that only the goal knows. The body has "<goal.AssetTag>" in its place, named
// after the property, and the value is bound when the request is sent. A slot that is the only
// element of a list stands for the whole list, of any length.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "platform/content/content_key.h"
#include "platform/runtime/random.h"
#include "redfish/schema/schema.h"

namespace shoal::redfish {

// What follows the URI of a collection in a request that reads it together with its members
// ($expand of DSP0266, one level).
inline constexpr std::string_view kExpandQuery = "?$expand=.";

// The method of a candidate that sends no request and lets the service's clock run.
inline constexpr const char* kWaitMethod = "WAIT";

struct Slot {
  // The property's name, such as "AssetTag", without "goal.".
  std::string name;
  // The slot's place in the body, such as "/NTP/NTPServers/0".
  std::string pointer;
  PropertyKind kind = PropertyKind::kString;
  StringFormat format = StringFormat::kPlain;
  std::optional<double> minimum;
  std::optional<double> maximum;
};

struct Candidate {
  // "GET", "PATCH", "POST", "DELETE" or kWaitMethod.
  std::string method;
  // The canonical URI, which for an action is the action's target; with kExpandQuery behind it for
  // a collection that is read with its members; empty for `wait`.
  std::string uri;
  // What the text says in place of the URI (UriWithoutNames); empty for the URI itself.
  std::string told_uri = {};
  // The URI of the resource that offers the request; empty for `wait`. Not part of the text.
  std::string resource;
  // The @odata.type of the resource, and its Name.
  std::string type;
  std::string name;
  // The action, such as "ComputerSystem.Reset"; empty for other requests.
  std::string action;
  // Null when the request has no body.
  nlohmann::json body;
  std::vector<Slot> slots;
  // Set for a candidate that composes, whose body is null. A part is a candidate with the same
  // method and URI and a piece of a body. Beside these parts a PATCH has those of all other PATCH
  // candidates of its resource.
  std::shared_ptr<const std::vector<Candidate>> parts = nullptr;

  // The canonical JSON of {method, uri, type, name, action, body}, and its key. Seal sets both. The
  // text of a candidate that composes has {"parts": "several"} too.
  std::string text;
  content::ContentKey key;

  bool composes() const { return parts != nullptr; }
  // Whether it reads a collection with its members.
  bool expands() const { return method == "GET" && uri.ends_with(kExpandQuery); }
  bool IsMutation() const { return method != "GET" && method != kWaitMethod; }
  const std::string& UriOfText() const { return told_uri.empty() ? uri : told_uri; }
  // Fills `text` and `key` from the other members.
  void Seal();
};

// Returns "first", "second", and so on up to "eighth", then "later".
const char* Ordinal(std::size_t index);

// Returns the URI with "<first name>", "<second name>", ... in place of each segment that is one of
// `names`, whatever its case; empty where none is. Ninth names and later ones stay.
std::string UriWithoutNames(std::string_view uri, std::span<const std::string> names);

// Returns the text "<goal.AssetTag>".
std::string SlotText(const std::string& name);

// The values of slots, by slot name.
using SlotValues = std::map<std::string, nlohmann::json>;

// Returns the body to send. Each slot gets its value in `values`. When there is none, or one of
// another type, it gets a random value of its own type from `random`. The body of a candidate
// without one is null.
nlohmann::json BindSlots(const Candidate& candidate, const SlotValues& values,
                         runtime::Random& random);

// Returns whether the slot can take the value: one of its type, or for a slot that stands for a
// list, a list of such.
bool Accepts(const Slot& slot, const nlohmann::json& value);

// Adds `part` to `body`: objects are merged, members of lists of objects are appended unless they
// are there, and any other value replaces what is there.
void MergePart(nlohmann::json& body, const nlohmann::json& part);

// Compares a candidate's body with one that somebody wants to send, where a missing body equals an
// empty object. Returns the values that the slots would need, by slot name, or nothing when no
// values make the two equal.
std::optional<SlotValues> Unify(const Candidate& candidate, const nlohmann::json& wanted);
// The same, but `wanted` may have more than the candidate's body has.
std::optional<SlotValues> UnifyPart(const Candidate& candidate, const nlohmann::json& wanted);

}  // namespace shoal::redfish
