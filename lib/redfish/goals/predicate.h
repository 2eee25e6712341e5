// SPDX-License-Identifier: Apache-2.0
// Conditions over a service's resources and its history, written as JSON.
//
//   {"equals":  {"uri": U, "pointer": P, "value": V}}     also "not_equals", "prefix" (of a text)
//   {"equals":  {.., "value": {..}, "except": [N, ..]}}      an object without its members N
//   {"in":      {"uri": U, "pointer": P, "values": [..]}}
//   {"contains":{"uri": U, "pointer": P, "value": V}}     the array at P has an element V
//   {"exists":  {"uri": U, "pointer": P}}
//   {"every":   {"members": U | "uris": [..], "holds": X}}  X with "uri" left out, of each member
//   {"some":    {"members": U | "uris": [..], "holds": X}}
//   {"exactly": {"members": U | "uris": [..], "holds": X, "count": N}}
//   {"has_password": {"uri": U, "value": V, "name": N?}}    V is in force: for an account, or for
//                                                         a BIOS under the name N
//   {"happened":{"kind": K, "uri": U?, "detail": {..}?, "at_least": N = 1, "at_most": N?}}
//   {"all": [..]}  {"any": [..]}  {"not": X}
//
// A comparison with an absent resource or property is false, "not_equals" too. Integers and floats
// with the same value are equal. A predicate is parsed once and evaluated often; it is immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"

namespace shoal::redfish {

// The kinds of history records that goals use.
inline constexpr std::string_view kBootRecord = "boot";  // detail {"target": "Pxe"}, of Cd "image"
inline constexpr std::string_view kResetRecord = "reset";  // detail {"ResetType": "On"}
inline constexpr std::string_view kEventRecord = "event";  // detail {"delivered": true, ...}
inline constexpr std::string_view kTaskRecord = "task";    // detail {"Name": .., "TaskState": ..}
// The detail is {"PasswordName": .., "NewPassword": ..} for a BIOS, {"UserName": ..} for an
// account.
inline constexpr std::string_view kPasswordRecord = "password";

struct HistoryRecord {
  std::string kind;
  // The canonical URI of the resource to which it happened.
  std::string uri;
  nlohmann::json detail;
  // Seconds of the service's virtual clock.
  double time = 0.0;
};

// The service as a predicate sees it. It is called from one thread at a time.
class StateView {
 public:
  virtual ~StateView() = default;
  // Returns nullptr when there is no such resource. The pointer is valid until the service changes
  // next.
  virtual const nlohmann::json* Find(std::string_view uri) const = 0;
  // The records since the episode began, oldest first.
  virtual const std::vector<HistoryRecord>& history() const = 0;
  // Returns whether `password` is in force for the account or, under `name`, the BIOS at `uri`.
  // Passwords are not in the tree, so a view of the tree alone returns false.
  virtual bool HasPassword(std::string_view /*uri*/, std::string_view /*name*/,
                           std::string_view /*password*/) const {
    return false;
  }
};

class Predicate {
 public:
  // INVALID_ARGUMENT naming the wrong part. Nesting is at most 32 deep; deeper JSON is not even
  // copied.
  static absl::StatusOr<Predicate> Parse(const nlohmann::json& json);
  // Parses `json` and takes it over.
  static absl::StatusOr<Predicate> Parse(nlohmann::json&& json);

  // Parses a condition whose comparisons may leave "uri" out: they then refer to the resource given
  // to Evaluate.
  static absl::StatusOr<Predicate> ParseOfResource(const nlohmann::json& json);

  // `here` is the canonical URI for comparisons without a "uri".
  bool Evaluate(const StateView& state, const std::string& here = {}) const;
  // Says what is looked at, without the values that are wanted, which may be secret: "equals
  // /redfish/v1/Systems/1 /PowerState", "every /redfish/v1/Chassis (not exists /AssetTag)".
  std::string Summary() const;
  // The conditions that must hold together: those of nested "all", or the predicate itself alone.
  // REQUIRES: made by Parse.
  std::vector<Predicate> Requirements() const;
  // The JSON from which it was parsed.
  const nlohmann::json& json() const { return *json_; }

  struct Node;

 private:
  Predicate(std::shared_ptr<const Node> root, std::shared_ptr<const nlohmann::json> json);
  std::shared_ptr<const Node> root_;
  std::shared_ptr<const nlohmann::json> json_;
};

}  // namespace shoal::redfish
