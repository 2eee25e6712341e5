// SPDX-License-Identifier: Apache-2.0
#include "cli/cluster/memory_plan.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace shoal::cli {
namespace {

// Two ranks that need 60 bytes each, and a table that may take 100.
MemoryPlan SmallPlan() {
  MemoryPlan plan;
  plan.parameters = 5;
  plan.trained = 4;
  plan.items = {{.process = "learner",
                 .processes = 2,
                 .purpose = "optimiser",
                 .bytes = 40,
                 .on_device = true,
                 .remedy = "another optimiser"},
                {.process = "learner",
                 .processes = 2,
                 .purpose = "batch",
                 .bytes = 20,
                 .on_device = true,
                 .remedy = "fewer unrolls"},
                {.process = "replay",
                 .processes = 1,
                 .purpose = "table",
                 .bytes = 100,
                 .limit = true,
                 .remedy = "a smaller table"}};
  return plan;
}

}  // namespace

TEST_CASE("without devices a host holds what all ranks take, and limits on top") {
  const MemoryVerdict verdict = Judge(SmallPlan(), {.host_bytes = 220, .device_bytes = {}});
  REQUIRE(verdict.host_certain == 120);
  REQUIRE(verdict.host_most == 220);
  REQUIRE(verdict.fit == Fit::kFits);
  REQUIRE(verdict.largest == 2);
}

TEST_CASE("a plan that fits only while a limit is not reached says so and names the limit") {
  const MemoryVerdict verdict = Judge(SmallPlan(), {.host_bytes = 219, .device_bytes = {}});
  REQUIRE(verdict.fit == Fit::kFitsUnlessFull);
  REQUIRE(verdict.largest == 2);
}

TEST_CASE("a host too small for what is certain names the largest of that") {
  const MemoryPlaces places{.host_bytes = 119, .device_bytes = {}};
  const MemoryVerdict verdict = Judge(SmallPlan(), places);
  REQUIRE(verdict.fit == Fit::kDoesNotFit);
  REQUIRE(verdict.largest == 0);
  const std::string text = ToText(SmallPlan(), places);
  REQUIRE(text.find("smaller with another optimiser") != std::string::npos);
  REQUIRE(text.find("verdict: does not fit") != std::string::npos);
}

TEST_CASE("each rank has a device for itself, which the host is spared") {
  const MemoryPlaces wide{.host_bytes = 100, .device_bytes = 60};
  const MemoryVerdict verdict = Judge(SmallPlan(), wide);
  REQUIRE(verdict.device == 60);
  REQUIRE(verdict.host_certain == 0);
  REQUIRE(verdict.fit == Fit::kFits);
  const MemoryVerdict narrow = Judge(SmallPlan(), {.host_bytes = 1000, .device_bytes = 59});
  REQUIRE(narrow.fit == Fit::kDoesNotFit);
  // The table is larger, but does not lie there.
  REQUIRE(narrow.largest == 0);
  const auto json = nlohmann::json::parse(ToJson(SmallPlan(), wide));
  REQUIRE(json.at("device").at("certain") == 60);
  REQUIRE(json.at("items").size() == 3);
  REQUIRE(json.at("verdict") == "fits");
}

}  // namespace shoal::cli
