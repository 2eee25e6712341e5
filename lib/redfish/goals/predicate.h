// SPDX-License-Identifier: Apache-2.0
// Conditions over a service's resources and its history, written as JSON.
//
//   {"equals":  {"uri": U, "pointer": P, "value": V}}     also "not_equals", "prefix" (of a text)
//   {"equals":  {.., "value": {..}, "except": [N, ..]}}      an object, members named N left out
//   {"in":      {"uri": U, "pointer": P, "values": [..]}}
//   {"contains":{"uri": U, "pointer": P, "value": V}}     the array at P has an element V
//   {"exists":  {"uri": U, "pointer": P}}
//   {"every":   {"members": U | "uris": [..], "holds": X}}  X with "uri" left out, of each member
//   {"some":    {"members": U | "uris": [..], "holds": X}}
//   {"exactly": {"members": U | "uris": [..], "holds": X, "count": N}}
//   {"has_password": {"uri": U, "value": V, "name": N?}}    V is in force: of an account, or of a
//                                                         BIOS under the name N
//   {"happened":{"kind": K, "uri": U?, "detail": {..}?, "at_least": N = 1, "at_most": N?}}
//   {"all": [..]}  {"any": [..]}  {"not": X}
// A comparison with an absent resource or property is false, "not_equals" too. Integers and floats
// with the same value are equal. Parsed once, evaluated often; immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"

namespace shoal::redfish {

// Kinds of history records that goals speak of.
inline constexpr std::string_view kBootRecord = "boot";  // detail {"target": "Pxe"}, of Cd "image"
inline constexpr std::string_view kResetRecord = "reset";  // detail {"ResetType": "On"}
inline constexpr std::string_view kEventRecord = "event";  // detail {"delivered": true, ...}
inline constexpr std::string_view kTaskRecord = "task";    // detail {"Name": .., "TaskState": ..}
// Of a BIOS {"PasswordName": .., "NewPassword": ..}, of an account {"UserName": ..}.
inline constexpr std::string_view kPasswordRecord = "password";

struct HistoryRecord {
  std::string kind;
  // Resource that it happened to, canonical.
  std::string uri;
  nlohmann::json detail;
  // Seconds of the service's virtual clock.
  double time = 0.0;
};

// The service as a predicate sees it. Called from one thread at a time.
class StateView {
 public:
  virtual ~StateView() = default;
  // nullptr when there is no such resource. Valid until the next change of the service.
  virtual const nlohmann::json* Find(std::string_view uri) const = 0;
  // Oldest first; starts empty with the episode.
  virtual const std::vector<HistoryRecord>& history() const = 0;
  // Whether `password` is in force for the account or, under `name`, the BIOS at `uri`. Passwords
  // are not in the tree: who sees that alone says no.
  virtual bool HasPassword(std::string_view /*uri*/, std::string_view /*name*/,
                           std::string_view /*password*/) const {
    return false;
  }
};

class Predicate {
 public:
  // INVALID_ARGUMENT naming the part that is wrong. Nesting is at most 32 deep: what is deeper is
  // not copied either.
  static absl::StatusOr<Predicate> Parse(const nlohmann::json& json);
  // The same of one that is not needed any more.
  static absl::StatusOr<Predicate> Parse(nlohmann::json&& json);

  // The same, where a comparison may leave "uri" out: it is of the resource that Evaluate is given.
  static absl::StatusOr<Predicate> ParseOfResource(const nlohmann::json& json);

  // `here` is the canonical URI of what comparisons without a "uri" are of.
  bool Evaluate(const StateView& state, const std::string& here = {}) const;
  // What it was parsed from.
  const nlohmann::json& json() const { return *json_; }

  struct Node;

 private:
  Predicate(std::shared_ptr<const Node> root, std::shared_ptr<const nlohmann::json> json);
  std::shared_ptr<const Node> root_;
  std::shared_ptr<const nlohmann::json> json_;
};

}  // namespace shoal::redfish
