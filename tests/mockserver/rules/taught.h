// SPDX-License-Identifier: Apache-2.0
// Rules, and a service whose only behaviour is what they teach.
#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <string>

#include "mockserver/instance/instance.h"
#include "mockserver/rules/rules.h"
#include "tests/mockserver/service/worlds.h"

namespace shoal::mockserver {

inline std::shared_ptr<const RuleSet> Rules(const Json& list) {
  auto rules = RuleSet::Parse({{"rules", list}});
  INFO(rules.status().message());
  REQUIRE(rules.ok());
  return *rules;
}

inline Json Set(const std::string& pointer, const Json& value) {
  return {{"set", {{"pointer", pointer}, {"value", value}}}};
}

// A service whose only behaviour is what `list` teaches.
class Taught {
 public:
  explicit Taught(const Json& list, Mode mode = Mode::kStatic,
                  const std::string& capture = "openbmc-stock", std::uint64_t seed = 0)
      : instance(WorldOf(capture), {.seed = seed, .mode = mode, .rules = Rules(list)}),
        system(LandmarksOf(instance.world()).system),
        chassis(LandmarksOf(instance.world()).chassis) {}

  Response Ask(Method method, const std::string& uri, const std::string& body = "",
               const std::string& if_match = "") {
    return instance.Handle({.method = method, .uri = uri, .body = body, .if_match = if_match});
  }

  Instance instance;
  const std::string system;
  const std::string chassis;
};

inline Json One(const Json& rule) { return Json::array({rule}); }

// Returns a rule for PATCH of systems with the members `more`.
inline Json Rule(const std::string& name, const Json& more) {
  Json rule = {{"name", name}, {"method", "PATCH"}, {"path", "/redfish/v1/Systems/*"}};
  if (more.is_object()) rule.update(more);
  return rule;
}

}  // namespace shoal::mockserver
