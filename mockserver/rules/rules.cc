// SPDX-License-Identifier: Apache-2.0
#include "mockserver/rules/rules.h"

#include <algorithm>
#include <utility>

#include "mockserver/messages/json_object.h"
#include "mockserver/messages/request_body.h"
#include "platform/runtime/atomic_file.h"
#include "redfish/capture/uri.h"

namespace shoal::mockserver {
namespace {

constexpr std::int64_t kMaximumWait = std::int64_t{1000} * 60 * 60 * 24 * 366;
constexpr const char* kRules = "rules";

absl::StatusOr<BodyCondition> ParseBodyCondition(const std::string& member, const Json& wanted) {
  BodyCondition condition;
  condition.pointer = member.starts_with('/') ? member : redfish::AppendPointer("", member);
  const bool special =
      wanted.is_object() && wanted.size() == 1 && wanted.begin().key().starts_with('$');
  if (!special) {
    condition.values = std::vector<Json>{wanted};
    return condition;
  }
  const Json& operand = wanted.begin().value();
  if (wanted.begin().key() == "$any" && operand == Json(true)) return condition;
  if (wanted.begin().key() == "$in" && operand.is_array()) {
    condition.values = operand.get<std::vector<Json>>();
    return condition;
  }
  return runtime::InvalidArgument("\"" + member +
                                  "\" needs a value, {\"$any\": true} or {\"$in\": [..]}");
}

absl::StatusOr<std::vector<BodyCondition>> ParseBody(const Json& body) {
  if (!body.is_object() || body.size() > Rule::kMaximumBodyConditions) {
    return runtime::InvalidArgument("an object of at most " +
                                    std::to_string(Rule::kMaximumBodyConditions) +
                                    " members expected");
  }
  std::vector<BodyCondition> conditions;
  for (const auto& [member, wanted] : body.items()) {
    SHOAL_ASSIGN_OR_RETURN(BodyCondition condition, ParseBodyCondition(member, wanted));
    conditions.push_back(std::move(condition));
  }
  return conditions;
}

absl::StatusOr<ScriptedResponse> ParseRespond(const Json& respond) {
  SHOAL_RETURN_IF_ERROR(CheckMembers(respond, {"status", "body", "headers"}));
  return ParseScriptedResponse(respond);
}

// Reads one rule, member by member.
class RuleReader {
 public:
  RuleReader(const Json& json, Route route) : json_(json), rule_{.route = std::move(route)} {}

  absl::StatusOr<Rule> Read() {
    SHOAL_RETURN_IF_ERROR(ReadConditions());
    SHOAL_RETURN_IF_ERROR(ReadEffects());
    const bool reads = rule_.route.reads();
    if (reads && (!rule_.operations.empty() || !rule_.body.empty() || !rule_.takes.empty())) {
      return runtime::InvalidArgument("a rule for GET has no \"do\" and nothing of a body");
    }
    if (reads && !rule_.respond) {
      return runtime::InvalidArgument("a rule for GET needs \"respond\"");
    }
    rule_.route.Narrow(rule_.body.size(), rule_.when.has_value());
    return std::move(rule_);
  }

 private:
  // Parses the member `name`, if it is present, into `target`.
  template <typename Target, typename Parser>
  absl::Status Take(const char* name, Target& target, const Parser& parse) {
    const auto found = json_.find(name);
    if (found == json_.end()) return absl::OkStatus();
    auto parsed = parse(*found);
    if (!parsed.ok()) return runtime::Annotate(parsed.status(), "\"" + std::string(name) + "\"");
    target = *std::move(parsed);
    return absl::OkStatus();
  }

  // Does the same for a member that may take parts of the request.
  template <typename Target, typename Parser>
  absl::Status TakeWithParts(const char* name, Target& target, const Parser& parse) {
    return Take(name, target, [&](const Json& json) -> decltype(parse(json)) {
      SHOAL_RETURN_IF_ERROR(JudgeParts(json, rule_.route.path().wildcards(), rule_.takes));
      return parse(json);
    });
  }

  absl::Status ReadConditions() {
    SHOAL_RETURN_IF_ERROR(Take("body", rule_.body, &ParseBody));
    SHOAL_RETURN_IF_ERROR(Take("when", rule_.when, &redfish::Predicate::ParseOfResource));
    const auto probability = json_.find("probability");
    if (probability == json_.end()) return absl::OkStatus();
    rule_.probability = probability->is_number() ? probability->get<double>() : 0.0;
    if (rule_.probability > 0.0 && rule_.probability <= 1.0) return absl::OkStatus();
    return runtime::InvalidArgument("\"probability\" is above 0 and at most 1");
  }

  absl::Status ReadEffects() {
    SHOAL_RETURN_IF_ERROR(TakeWithParts("do", rule_.operations, &ParseOperations));
    SHOAL_RETURN_IF_ERROR(TakeWithParts("respond", rule_.respond, &ParseRespond));
    SHOAL_ASSIGN_OR_RETURN(const std::int64_t after,
                           IntegerMember(json_, "after_ms", {.maximum = kMaximumWait}));
    rule_.after = std::chrono::milliseconds(after);
    return absl::OkStatus();
  }

  const Json& json_;
  Rule rule_;
};

absl::StatusOr<Rule> ParseRule(const Json& json) {
  SHOAL_RETURN_IF_ERROR(CheckMembers(json, {"name", "method", "path", "body", "when", "do",
                                            "after_ms", "respond", "probability"}));
  SHOAL_ASSIGN_OR_RETURN(Route route, Route::Parse(json));
  return RuleReader(json, std::move(route)).Read();
}

absl::StatusOr<Json> ReadRules(const std::string& path) {
  SHOAL_ASSIGN_OR_RETURN(const std::string text,
                         runtime::ReadFile(path, RuleSet::kMaximumFileBytes));
  RequestBody parsed = ParseRequestBody(text);
  const bool has_rules = parsed.object && parsed.object->contains(kRules) &&
                         parsed.object->at(kRules).is_array() && parsed.object->size() == 1;
  if (!has_rules) return runtime::InvalidArgument(path + ": not {\"rules\": [..]}");
  return std::move(parsed.object->at(kRules));
}

}  // namespace

bool BodyCondition::Holds(const Json& body) const {
  const Json* const found = redfish::Resolve(body, pointer);
  if (found == nullptr) return false;
  return !values || std::find(values->begin(), values->end(), *found) != values->end();
}

RuleSet::RuleSet(Json json, std::vector<Rule> rules)
    : json_(std::move(json)), rules_(std::move(rules)) {}

absl::StatusOr<std::shared_ptr<const RuleSet>> RuleSet::Parse(const Json& json) {
  SHOAL_RETURN_IF_ERROR(CheckMembers(json, {kRules}));
  SHOAL_ASSIGN_OR_RETURN(std::vector<Rule> rules,
                         ReadNamed(json, kRules, "rule", kMaximumRules, &ParseRule,
                                   [](const Rule& rule) { return rule.route.name(); }));
  std::sort(rules.begin(), rules.end(),
            [](const Rule& a, const Rule& b) { return ActsBefore(a.route, b.route); });
  return std::shared_ptr<const RuleSet>(new RuleSet(json, std::move(rules)));
}

absl::StatusOr<std::shared_ptr<const RuleSet>> RuleSet::Load(
    const std::vector<std::string>& paths) {
  if (paths.empty()) return nullptr;
  Json all = Json::array();
  for (const std::string& path : paths) {
    SHOAL_ASSIGN_OR_RETURN(const Json rules, ReadRules(path));
    const auto alone = Parse({{kRules, rules}});
    if (!alone.ok()) return runtime::Annotate(alone.status(), path);
    all.insert(all.end(), rules.begin(), rules.end());
  }
  return Parse({{kRules, std::move(all)}});
}

}  // namespace shoal::mockserver
