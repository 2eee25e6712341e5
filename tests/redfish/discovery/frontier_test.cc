// SPDX-License-Identifier: Apache-2.0
#include "redfish/discovery/frontier.h"

#include <catch2/catch.hpp>

namespace shoal::discovery {
namespace {

using std::chrono::milliseconds;

Link To(const std::string& uri) { return {uri, uri}; }

TEST_CASE("A URI that is found twice is asked for once, first found first") {
  const CrawlOptions options;
  Frontier frontier(options);
  frontier.Add(To("/redfish/v1/B"), 1);
  frontier.Add(To("/redfish/v1/A"), 1);
  frontier.Add(To("/redfish/v1/B"), 2);
  const runtime::TimePoint now{};
  REQUIRE(frontier.Next(now)->link.uri == "/redfish/v1/B");
  REQUIRE(frontier.Next(now)->link.uri == "/redfish/v1/A");
  REQUIRE_FALSE(frontier.Next(now).has_value());
  REQUIRE(frontier.empty());
}

TEST_CASE("What is put off comes back when its time has come, before what is new") {
  const CrawlOptions options;
  Frontier frontier(options);
  const runtime::TimePoint now{};
  frontier.Retry({.link = To("/redfish/v1/Late"), .attempts = 2}, now + milliseconds(10));
  REQUIRE_FALSE(frontier.Next(now).has_value());
  REQUIRE_FALSE(frontier.empty());
  frontier.Add(To("/redfish/v1/New"), 1);
  const auto back = frontier.Next(now + milliseconds(10));
  REQUIRE(back->link.uri == "/redfish/v1/Late");
  REQUIRE(back->attempts == 2);
}

TEST_CASE("Log entries, their pages and sessions are skipped, their collections are not") {
  const CrawlOptions options;
  Frontier frontier(options);
  frontier.Add(To("/redfish/v1/Managers/1/LogServices/SEL/Entries"), 1);
  frontier.Add(To("/redfish/v1/SessionService/Sessions"), 1);
  REQUIRE(frontier.skipped() == 0);
  frontier.Add(To("/redfish/v1/Managers/1/LogServices/SEL/Entries/1"), 1);
  frontier.Add({"/redfish/v1/Managers/1/LogServices/SEL/Entries",
                "/redfish/v1/Managers/1/LogServices/SEL/Entries?$skip=50"},
               1);
  frontier.Add(To("/redfish/v1/SessionService/Sessions/7"), 1);
  REQUIRE(frontier.skipped() == 3);
  REQUIRE(frontier.size() == 2);
}

}  // namespace
}  // namespace shoal::discovery
