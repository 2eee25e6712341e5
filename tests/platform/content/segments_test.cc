// SPDX-License-Identifier: Apache-2.0
#include "platform/content/segments.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "platform/content/canonical_json.h"

namespace shoal::content {
namespace {

nlohmann::json LongResource() {
  nlohmann::json resource = nlohmann::json::object();
  for (int i = 0; i < 400; ++i) {
    resource["Property" + std::to_string(i)] = "value " + std::to_string(i * 7919);
  }
  return resource;
}

TEST_CASE("Segments follow one another and cover the text") {
  const std::string text = CanonicalJson(LongResource());
  std::string joined;
  for (const std::string_view segment : SplitSegments(text, {})) joined += segment;
  REQUIRE(joined == text);
  REQUIRE(SplitSegments("", {}).empty());
  REQUIRE(SplitSegments("short", {}).size() == 1);
}

TEST_CASE("All segments but the last keep within minimum and maximum") {
  const SegmentOptions options{100, 200, 400};
  const std::string text = CanonicalJson(LongResource());
  const auto segments = SplitSegments(text, options);
  REQUIRE(segments.size() > 10);
  for (std::size_t i = 0; i + 1 < segments.size(); ++i) {
    REQUIRE(segments[i].size() >= options.minimum_bytes);
    REQUIRE(segments[i].size() <= options.maximum_bytes);
  }
}

TEST_CASE("One changed property changes few segments, also when it changes its length") {
  nlohmann::json resource = LongResource();
  const std::string before = CanonicalJson(resource);
  resource["Property200"] = "another and quite a lot longer value than was here before";
  const std::string after = CanonicalJson(resource);
  const SegmentOptions options{100, 200, 1000};
  const auto old_segments = SplitSegments(before, options);
  const std::set<std::string_view> known(old_segments.begin(), old_segments.end());
  const auto segments = SplitSegments(after, options);
  const auto changed = std::count_if(segments.begin(), segments.end(),
                                     [&](std::string_view one) { return !known.contains(one); });
  REQUIRE(changed >= 1);
  REQUIRE(changed <= 3);
}

TEST_CASE("A cut at the maximum does not split a character") {
  std::string text;
  for (int i = 0; i < 500; ++i) text += "\xe2\x82\xac";
  for (const std::string_view segment : SplitSegments(text, {10, 10, 100})) {
    REQUIRE((static_cast<unsigned char>(segment.front()) & 0xC0) != 0x80);
  }
}

}  // namespace
}  // namespace shoal::content
