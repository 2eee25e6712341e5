// SPDX-License-Identifier: Apache-2.0
// Tests rules as they are written: which are refused, and what files hold.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "mockserver/rules/rules.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/mockserver/rules/taught.h"

namespace shoal::mockserver {
namespace {

std::string Refusal(const Json& list) {
  const auto rules = RuleSet::Parse({{"rules", list}});
  REQUIRE(rules.status().code() == absl::StatusCode::kInvalidArgument);
  return std::string(rules.status().message());
}

TEST_CASE("A wrong rule is refused by name and member") {
  struct Wrong {
    Json rule;
    std::string says;
  };
  const Json respond = {{"status", 204}};
  const Json tag = One(Set("/AssetTag", "x"));
  Json many = Json::array();
  for (std::size_t i = 0; i <= kMaximumOperations; ++i) many.push_back(tag[0]);
  const std::vector<Wrong> wrongs = {
      {5, "rule #0: an object"},
      {{{"method", "GET"}, {"path", "/a"}}, "rule #0: needs a \"name\""},
      {Rule("a b", {}), "rule a b: \"name\""},
      {Rule("a", {{"method", "FETCH"}}), "rule a: \"method\""},
      {Rule("a", {{"method", "HEAD"}}), "rule a: \"method\""},
      {Rule("a", {{"path", "x"}}), "rule a: \"path\""},
      {Rule("a", {{"pth", "x"}}), "rule a: unknown member \"pth\""},
      {Rule("a", {{"body", 5}}), "rule a: \"body\""},
      {Rule("a", {{"body", {{"B", {{"$in", 5}}}}}}), "rule a: \"body\": \"B\""},
      {Rule("a", {{"body", {{"B", {{"$or", 5}}}}}}), "rule a: \"body\": \"B\""},
      {Rule("a", {{"when", {{"nope", 5}}}}), "rule a: \"when\": predicate: unknown condition"},
      {Rule("a", {{"do", 5}}), "rule a: \"do\""},
      {Rule("a", {{"do", many}}), "rule a: \"do\""},
      {Rule("a", {{"do", {{{"explode", Json::object()}}}}}), "\"do\": [0]: \"explode\""},
      {Rule("a", {{"do", {{{"set", {{"pointer", "/A"}}}}}}}), "[0]: \"set\": needs a \"value\""},
      {Rule("a", {{"do", {{{"set", {{"value", 1}}}}}}}), "[0]: \"set\": needs a \"pointer\""},
      {Rule("a", {{"do", {Set("", 1)}}}), "\"pointer\""},
      {Rule("a", {{"do", {Set("/", 1)}}}), "\"pointer\""},
      {Rule("a", {{"do", {Set("A", 1)}}}), "\"pointer\""},
      {Rule("a", {{"do", {Set("/${path:1}", 1)}}}), "\"pointer\""},
      {Rule("a", {{"do", {{{"create", {{"json", 5}}}}}}}), "\"create\": \"json\""},
      {Rule("a", {{"do", {{{"record", Json::object()}}}}}), "\"record\": needs a \"kind\""},
      {Rule("a", {{"do", {{{"delete", {{"value", 5}}}}}}}), "\"delete\": unknown member"},
      {Rule("a", {{"do", {Set("/A", "${path:2}")}}}), "\"do\": \"${path:2}\""},
      {Rule("a", {{"do", {Set("/A", "${path:0}")}}}), "\"do\": \"${path:0}\""},
      {Rule("a", {{"do", {Set("/A", "${boddy:/x}")}}}), "\"do\": \"${boddy:/x}\""},
      {Rule("a", {{"do", {Set("/A", "${body:x}")}}}), "\"do\": \"${body:x}\""},
      {Rule("a", {{"do", {Set("/A", "${body:/x")}}}), "\"do\": \"${body:/x\""},
      {Rule("a", {{"do", {Set("/A", std::vector<std::string>(17, "${path:1}"))}}}), "16 parts"},
      {Rule("a", {{"after_ms", -1}}), "\"after_ms\""},
      {Rule("a", {{"after_ms", 1.5}}), "\"after_ms\""},
      {Rule("a", {{"respond", {{"status", 100}}}}), "\"respond\": \"status\""},
      {Rule("a", {{"respond", {{"status", 204}, {"body", 1}}}}), "\"respond\": \"body\""},
      {Rule("a", {{"respond", {{"body", std::string(300'000, 'x')}}}}), "\"respond\": \"body\""},
      {Rule("a", {{"respond", {{"headers", {{"content-length", "5"}}}}}}), "content-length"},
      {Rule("a", {{"respond", {{"headers", {{"a b", "5"}}}}}}), "a b"},
      {Rule("a", {{"respond", {{"headers", {{"X", 5}}}}}}), "\"respond\": \"headers\""},
      {Rule("a", {{"respond", {{"code", 204}}}}), "\"respond\": unknown member \"code\""},
      {Rule("a", {{"probability", 0}}), "\"probability\""},
      {Rule("a", {{"probability", 1.1}}), "\"probability\""},
      {Rule("a", {{"probability", "1"}}), "\"probability\""},
      {Rule("a", {{"method", "GET"}, {"respond", respond}, {"do", tag}}), "rule for GET"},
      {Rule("a", {{"method", "GET"}, {"respond", respond}, {"body", {{"A", 1}}}}), "rule for GET"},
      {Rule("a", {{"method", "GET"}, {"respond", {{"body", "${body:/A}"}}}}), "rule for GET"},
      {Rule("a", {{"method", "GET"}}), "needs \"respond\""},
  };
  for (const Wrong& wrong : wrongs) {
    const std::string refusal = Refusal(One(wrong.rule));
    INFO(wrong.rule.dump() << " " << refusal);
    REQUIRE(refusal.find(wrong.says) != std::string::npos);
  }
  REQUIRE(Refusal({Rule("a", {}), Rule("a", {})}).find("rule a: another") != std::string::npos);
  REQUIRE(RuleSet::Parse(5).status().code() == absl::StatusCode::kInvalidArgument);
  REQUIRE(RuleSet::Parse(Json::object()).status().code() == absl::StatusCode::kInvalidArgument);
  Json list = Json::array();
  for (std::size_t i = 0; i < RuleSet::kMaximumRules; ++i) {
    list.push_back(Rule(std::to_string(i), {}));
  }
  REQUIRE(Rules(list)->rules().size() == RuleSet::kMaximumRules);
  list.push_back(Rule("one-more", {}));
  REQUIRE(Refusal(list).find("1024") != std::string::npos);
}

TEST_CASE("Rules are read from files, as one set") {
  const doubles::TemporaryFolder folder;
  const std::string one = folder.Write("one.json", Json{{"rules", {Rule("a", {})}}}.dump());
  const std::string two = folder.Write("two.json", Json{{"rules", {Rule("b", {})}}}.dump());
  REQUIRE(RuleSet::Load({}).value() == nullptr);
  REQUIRE(RuleSet::Load({one, two}).value()->rules().size() == 2);
  REQUIRE(RuleSet::Load({one, two}).value()->json().at("rules")[1].at("name") == "b");
  const auto message = [](const auto& rules) { return std::string(rules.status().message()); };
  REQUIRE(message(RuleSet::Load({one, one})).find("rule a: another") != std::string::npos);
  const std::string broken = folder.Write("broken.json", R"({"rules":[{"name":"c"}]})");
  REQUIRE(message(RuleSet::Load({one, broken})).find("broken.json: rule c: needs a \"method\"") !=
          std::string::npos);
  const std::string none = folder.Write("none.json", "[]");
  REQUIRE(message(RuleSet::Load({none})).find("none.json") != std::string::npos);
  REQUIRE(RuleSet::Load({folder.At("absent")}).status().code() == absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace shoal::mockserver
