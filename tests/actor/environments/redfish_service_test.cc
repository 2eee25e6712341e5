// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/redfish_service.h"

#include <catch2/catch.hpp>

namespace shoal::actor {
namespace {

std::shared_ptr<const std::string> Text(const char* text) {
  return std::make_shared<const std::string>(text);
}

TEST_CASE("The value of an answer is what came with it, else what its text says") {
  const auto json = std::make_shared<const nlohmann::json>(7);
  REQUIRE(JsonOf({.status = 200, .json = json}) == json);
  REQUIRE(JsonOf({.status = 200, .body = Text("8"), .json = json}) == json);
  REQUIRE(*JsonOf({.status = 200, .body = Text(R"({"a": 1})")}) == nlohmann::json{{"a", 1}});
}

TEST_CASE("An answer without a body has no value, and one that is no JSON none to look at") {
  REQUIRE(JsonOf({.status = 204})->is_null());
  REQUIRE(JsonOf({.status = 200, .body = Text("{\"a\": ")})->is_discarded());
}

}  // namespace
}  // namespace shoal::actor
