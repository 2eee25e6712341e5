// SPDX-License-Identifier: Apache-2.0
#include "placement/placement_file.h"

#include <catch2/catch.hpp>

#include "small_graphs.h"

namespace shoal::placement {
namespace {

Graph TwoGroups() {
  Graph graph;
  AddOperation(graph, 1, 1, {});
  AddOperation(graph, 1, 1, {0});
  graph.groups = {"a", "b"};
  return graph;
}

TEST_CASE("a placement file has a device for each group") {
  const std::string text =
      R"({"graph": "other", "placement": {"b": "device 2", "a": "device 0"}, "methods": []})";
  REQUIRE(ParsePlacement(text, TwoGroups(), EqualDevices(3, 100)).value() == Placement{0, 2});
}

TEST_CASE("what is wrong with a placement file is one error that names it") {
  const auto error = [](const std::string& text) {
    const auto placement = ParsePlacement(text, TwoGroups(), EqualDevices(2, 100));
    REQUIRE(absl::IsInvalidArgument(placement.status()));
    return runtime::Message(placement.status());
  };
  for (const char* text : {"", "[]", "{}", R"({"placement": ["a"]})"}) {
    REQUIRE(error(text) == "the file needs the object \"placement\"");
  }
  REQUIRE(error(R"({"placement": {"a": "device 0"}})") == "group \"b\" has no device");
  REQUIRE(error(R"({"placement": {"a": "device 0", "b": "device 2"}})") ==
          "group \"b\" is on \"device 2\", which is no device");
  REQUIRE(error(R"({"placement": {"a": 0}})") == "group \"a\" is on 0, which is no device");
  REQUIRE(error(R"({"placement": {"c": "device 0"}})") == "the graph has no group \"c\"");
  REQUIRE(absl::IsNotFound(
      LoadPlacement("no/such/file.json", TwoGroups(), EqualDevices(2, 100)).status()));
}

}  // namespace
}  // namespace shoal::placement
