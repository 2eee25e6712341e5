// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/body_texts.h"

#include <catch2/catch.hpp>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace shoal::actor {
namespace {

TEST_CASE("Bodies are canonicalised once, and the oldest go when the cache is full") {
  BodyTexts bodies(4);
  const auto one = bodies.Read(R"({"b": 1, "a": 2.0})");
  REQUIRE(*one->content.text == R"({"a":2,"b":1})");
  REQUIRE(bodies.Read(R"({"b": 1, "a": 2.0})") == one);
  REQUIRE(bodies.Read(R"({"a":2,"b":1})")->content.key == one->content.key);
  REQUIRE(bodies.Read("")->content.key.IsZero());
  REQUIRE(*bodies.Read("no json")->content.text == "\"no json\"");
  for (int i = 0; i < 20; ++i) bodies.Read(std::to_string(i));
  REQUIRE(bodies.size() <= 4);
}

TEST_CASE("A body that comes parsed is the same content as its text, made once") {
  BodyTexts bodies(1 << 20);
  const std::string raw = R"({"b": [1, "\u0041"], "a": 2.0, "@odata.etag": "W/\"1\""})";
  const auto of_text = bodies.Read(raw)->content;
  const auto parsed = nlohmann::json::parse(raw);
  const auto first = bodies.ReadParsed(parsed)->content;
  REQUIRE(first.key == of_text.key);
  REQUIRE(*first.text == *of_text.text);
  REQUIRE(bodies.ReadParsed(parsed)->content.text == first.text);
}

TEST_CASE("Bodies that differ in ETags alone are one, unless they are no JSON") {
  BodyTexts bodies(1 << 20);
  const auto tagged = [](const std::string& etag, const std::string& name) {
    return R"({"@odata.etag":"W/\")" + etag + R"(\"","Name":")" + name +
           R"(","Part":{"@odata.etag":")" + etag + R"("}})";
  };
  const auto first = bodies.Read(tagged("1", "a"));
  REQUIRE(*first->content.text == R"({"Name":"a","Part":{}})");
  REQUIRE(bodies.Read(tagged("22", "a")) == first);
  REQUIRE(*bodies.Read(tagged("1", "b"))->content.text == R"({"Name":"b","Part":{}})");
  // Whether a body is JSON does not depend on the bodies seen before.
  REQUIRE(*bodies.Read(tagged("\n", "c"))->content.text != R"({"Name":"c","Part":{}})");
  REQUIRE(*bodies.Read(tagged("3", "c"))->content.text == R"({"Name":"c","Part":{}})");
  // Neither a text that mentions an ETag nor a body that ends within one is taken for it.
  const auto saying = [](const std::string& value) {
    return R"({"Name":"\"@odata.etag\":\")" + value + R"(\""})";
  };
  REQUIRE(bodies.Read(saying("1"))->content.key != bodies.Read(saying("2"))->content.key);
  const auto naming = [](const std::string& value) {
    return R"({"a\"@odata.etag":")" + value + R"("})";
  };
  REQUIRE(bodies.Read(naming("1"))->content.key != bodies.Read(naming("2"))->content.key);
  for (const std::string cut : {R"({"@odata.etag":"1)", R"({"@odata.etag":"2)",
                                R"({"@odata.etag":"1"])", R"({"@odata.etag":"2"])"}) {
    const std::string expected = nlohmann::json(cut).dump();
    REQUIRE(*bodies.Read(cut)->content.text == expected);
  }
  REQUIRE(*bodies.Read(R"({"@odata.etag":")")->content.text == R"("{\"@odata.etag\":\"")");
  REQUIRE(*bodies.Read(R"("@odata.etag":"\)")->content.text == R"("\"@odata.etag\":\"\\")");
}

TEST_CASE("A body that nests too deeply is text, whatever a service sends") {
  BodyTexts bodies(1 << 20);
  const auto arrays = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  REQUIRE(*bodies.Read(arrays(64))->content.text == arrays(64));
  REQUIRE(*bodies.Read(arrays(65))->content.text == "\"" + arrays(65) + "\"");
  REQUIRE(*bodies.Read(arrays(500000))->content.text == "\"" + arrays(500000) + "\"");
  REQUIRE(bodies.Read(std::string(500000, '['))->content.text->size() == 500002);
}

TEST_CASE("A body shows the resource that it is, and the members of a collection") {
  BodyTexts bodies(1 << 20);
  const auto text = bodies.Read(
      R"({"@odata.id": "/redfish/v1/A/", "Members": [{"@odata.id": "/redfish/v1/A/1"}, 7]})");
  REQUIRE(text->uri == "/redfish/v1/A");
  REQUIRE(text->members == std::vector<std::string>{"/redfish/v1/A/1"});
  REQUIRE(bodies.Read(R"({"error": {}})")->uri.empty());
  REQUIRE(bodies.Read("[1]")->members.empty());
}

}  // namespace
}  // namespace shoal::actor
