// SPDX-License-Identifier: Apache-2.0
// Behaviours as data. A set of rules is {"rules": [..]}, and a rule is
//
//   {"name": "lit", "method": "PATCH", "path": "/redfish/v1/Systems/*",   as route.h reads them
//    "body":  {"IndicatorLED": {"$in": ["Lit", "Off"]}},     conditions on the request's JSON
//    "when":  {"equals": {"pointer": "/PowerState", "value": "On"}},      predicate.h; the default
//                                                            "uri" is the addressed resource
//    "do":    [{"set": {"pointer": "/IndicatorLED", "value": "${body:/IndicatorLED}"}}],
//    "after_ms": 500,                                        the delay of "do"
//    "respond": {"status": 204},                             scripted_response.h
//    "probability": 0.5}
//
// Only "name", "method" and "path" are required. "body" maps names of members, or JSON Pointers, to
// the value that each must have, {"$any": true} or {"$in": [..]}. "do" (operation.h) and "respond"
// may take parts of the request (request_parts.h); a rule that takes a part that the body lacks
// does not match. Without "respond" the answer is 201 with the created member, or plain success. A
// rule for GET needs "respond" and has neither "do" nor "body", because a GET changes nothing.
//
// A rule takes precedence over everything built in, in both modes, and also applies to URIs that
// are not resources. It does not apply to OPTIONS or to requests whose body is not a JSON object.
// If-Match is checked as usual. When one of the operations cannot be performed, none is: the answer
// is 404 for a resource that does not exist and 409 otherwise, and delayed operations are skipped.
// While "do" waits, the same rule for the same URI restarts the wait. Of several rules that match,
// one acts (route.h). A "probability" below 1 is drawn from the instance's seed for each rule that
// is reached.
//
// Rule sets are immutable.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mockserver/rules/operation.h"
#include "mockserver/rules/route.h"
#include "mockserver/rules/scripted_response.h"
#include "platform/runtime/status.h"
#include "redfish/goals/predicate.h"

namespace shoal::mockserver {

// A condition on one member of a request's JSON.
struct BodyCondition {
  std::string pointer;
  // The permitted values. Nothing means any value.
  std::optional<std::vector<Json>> values;

  bool Holds(const Json& body) const;
};

struct Rule {
  static constexpr std::size_t kMaximumBodyConditions = 64;

  Route route;
  std::vector<BodyCondition> body = {};
  std::optional<redfish::Predicate> when = {};
  std::vector<Operation> operations = {};
  std::chrono::milliseconds after{0};
  std::optional<ScriptedResponse> respond = {};
  double probability = 1.0;
  // Pointers to the parts of the body that the rule takes.
  std::vector<std::string> takes = {};
};

class RuleSet {
 public:
  static constexpr std::size_t kMaximumRules = 1024;
  static constexpr std::size_t kMaximumFileBytes = std::size_t{8} << 20;

  // Returns INVALID_ARGUMENT naming the rule and its member, also when two rules have the same
  // name.
  static absl::StatusOr<std::shared_ptr<const RuleSet>> Parse(const Json& json);
  // Reads the rules of several files as one set. Returns null for no files. In addition to the
  // errors of Parse it returns NOT_FOUND; errors name the file.
  static absl::StatusOr<std::shared_ptr<const RuleSet>> Load(const std::vector<std::string>& paths);

  // The JSON that the set was parsed from.
  const Json& json() const { return json_; }
  // The rules in the order in which they act.
  std::span<const Rule> rules() const { return rules_; }

 private:
  RuleSet(Json json, std::vector<Rule> rules);

  const Json json_;
  const std::vector<Rule> rules_;
};

}  // namespace shoal::mockserver
