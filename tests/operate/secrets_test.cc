// SPDX-License-Identifier: Apache-2.0
#include "operate/secrets.h"

#include <catch2/catch.hpp>

namespace shoal::operate {

using Json = nlohmann::json;

TEST_CASE("a known secret is hidden by its name wherever it stands, and comes back") {
  const Secrets secrets(std::map<std::string, std::string>{{"Password", "tr0ub4dor"}, {"", ""}});
  const Json open = {{"a", Json::array({"tr0ub4dor", "the tr0ub4dor is"})}, {"b", 3}};
  const Json hidden = secrets.Hide(open);
  REQUIRE(hidden == Json{{"a", Json::array({"{Password}", "the {Password} is"})}, {"b", 3}});
  REQUIRE(secrets.Show(hidden).value() == open);
  REQUIRE(secrets.HideIn("tr0ub4dor") == "{Password}");
}

TEST_CASE("the secrets of a text are known again from the text without them") {
  const Secrets secrets(
      std::map<std::string, std::string>{{"Password", "tr0ub4dor"}, {"other:Password", "h0rse"}});
  const std::string text = "change h0rse to tr0ub4dor, then log in with tr0ub4dor";
  const auto recalled = Secrets::Recall(secrets.HideIn(text), text);
  REQUIRE(recalled.has_value());
  REQUIRE(recalled->values() == secrets.values());
  REQUIRE(Secrets::Recall("power on", "power on")->values().empty());
  REQUIRE_FALSE(Secrets::Recall("power on", "power off").has_value());
  REQUIRE_FALSE(Secrets::Recall("power on", "power on now").has_value());
  REQUIRE_FALSE(Secrets::Recall("from {A} to {A}.", "from x to y.").has_value());
  REQUIRE_FALSE(Secrets::Recall("from {A} to", "from x").has_value());
  REQUIRE_FALSE(Secrets::Recall("from {A", "from {A").has_value());
  REQUIRE(Secrets::Recall("to {A}.", "to Abc.12345.")->values().at("A") == "Abc.12345");
}

TEST_CASE("a secret that begins like another one is hidden as a whole") {
  const Secrets secrets(
      std::map<std::string, std::string>{{"A", "Abc-12345"}, {"B", "Abc-123456"}});
  const std::string text = "first Abc-12345, then Abc-123456.";
  REQUIRE(secrets.HideIn(text) == "first {A}, then {B}.");
  REQUIRE(Secrets::Recall(secrets.HideIn(text), text)->values() == secrets.values());
}

TEST_CASE("an unknown secret is hidden by the name of its property, and does not come back") {
  const Secrets none;
  REQUIRE(none.Hide(Json{{"NewPassword", "x"}}) == Json{{"NewPassword", "REDACTED"}});
  REQUIRE(none.Hide("x", "/Oem/Password") == "REDACTED");
  REQUIRE(none.Hide("x", "/AssetTag") == "x");
  REQUIRE(none.Hide(nullptr, "/Password") == nullptr);
  REQUIRE(absl::IsFailedPrecondition(none.Show(Json{{"NewPassword", "REDACTED"}}).status()));
}

}  // namespace shoal::operate
