// SPDX-License-Identifier: Apache-2.0
// Behaviours as data. A set of rules is {"rules": [..]}, and a rule
//
//   {"name": "lit", "method": "PATCH", "path": "/redfish/v1/Systems/*",   as route.h reads them
//    "body":  {"IndicatorLED": {"$in": ["Lit", "Off"]}},     what the request's JSON must have
//    "when":  {"equals": {"pointer": "/PowerState", "value": "On"}},      predicate.h; no "uri":
//                                                            the resource that is addressed
//    "do":    [{"set": {"pointer": "/IndicatorLED", "value": "${body:/IndicatorLED}"}}],
//    "after_ms": 500,                                        "do" happens so much later
//    "respond": {"status": 204},                             scripted_response.h
//    "probability": 0.5}
//
// "name", "method" and "path" are needed. "body" has names of members, or JSON Pointers, with the
// value that each must have, {"$any": true} or {"$in": [..]}. "do" (operation.h) and "respond" may
// take parts of the request (request_parts.h); a rule that takes what a body lacks does not match.
// Without "respond" the answer is 201 with the member that was created, or plain success. A rule
// for GET needs "respond" and has neither "do" nor "body": no GET changes anything.
//
// A rule comes before what is built in, in both modes, on URIs that are no resources too; requests
// whose body is no JSON object, and OPTIONS, are none of its concern. If-Match is judged as ever.
// Operations that cannot be done are not done at all: 404 for a resource that is not there, 409
// otherwise; those that are due later are then left out. While "do" waits, the same rule for the
// same URI starts the wait anew. Of several rules that match, one acts (route.h): a "probability"
// below 1 is drawn for each that is reached, from the instance's seed.
//
// Immutable.
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
  // Any of these; nothing: anything.
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
  // What it takes of a body: pointers.
  std::vector<std::string> takes = {};
};

class RuleSet {
 public:
  static constexpr std::size_t kMaximumRules = 1024;
  static constexpr std::size_t kMaximumFileBytes = std::size_t{8} << 20;

  // INVALID_ARGUMENT naming the rule and its member; also when two have one name.
  static absl::StatusOr<std::shared_ptr<const RuleSet>> Parse(const Json& json);
  // All rules of several files, as one set. Null for no files. Also NOT_FOUND; names the file.
  static absl::StatusOr<std::shared_ptr<const RuleSet>> Load(const std::vector<std::string>& paths);

  // What it was parsed from.
  const Json& json() const { return json_; }
  // The one that acts before others first.
  std::span<const Rule> rules() const { return rules_; }

 private:
  RuleSet(Json json, std::vector<Rule> rules);

  const Json json_;
  const std::vector<Rule> rules_;
};

}  // namespace shoal::mockserver
