// SPDX-License-Identifier: Apache-2.0
#include "mockserver/messages/extended_info.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>

#include "redfish/schema/base_messages.h"

namespace shoal::mockserver {
namespace {

// Counts the arguments if `text` continues with a comma and braces, and otherwise returns 0.
std::size_t CountArguments(const std::string& text) {
  static const std::regex kStart(R"(^\s*,\s*\{)");
  std::smatch start;
  if (!std::regex_search(text, start, kStart)) return 0;
  if (start.suffix().str().starts_with('}')) return 0;
  std::size_t count = 1;
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = static_cast<std::size_t>(start.length()); i < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    if (quoted) continue;
    if (text[i] == '}' && depth == 0) return count;
    if (text[i] == '(' || text[i] == '{') ++depth;
    if (text[i] == ')' || text[i] == '}') --depth;
    if (text[i] == ',' && depth == 0) ++count;
  }
  FAIL("no end of arguments");
  return 0;
}

TEST_CASE("Every message that a source names is in the registry, with as many arguments") {
  static const std::regex kUse(
      R"re((ExtendedInfo|ErrorResponse|Complain)\(\s*(\d+,\s*)?"([A-Za-z]*)")re");
  std::size_t uses = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator("mockserver")) {
    if (entry.path().extension() != ".cc") continue;
    std::ifstream file(entry.path());
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    for (std::sregex_iterator it(text.begin(), text.end(), kUse), end; it != end; ++it) {
      const std::string id = (*it)[3];
      INFO(entry.path() << " " << id);
      const redfish::MessageDefinition* const message = redfish::FindBaseMessage(id);
      REQUIRE(message != nullptr);
      REQUIRE(message->argument_count == CountArguments(it->suffix()));
      ++uses;
    }
  }
  REQUIRE(uses > 20);
}

TEST_CASE("The words for a value that does not fit take the value and the property") {
  for (const char* id : {"PropertyValueTypeError", "PropertyValueNotInList",
                         "PropertyValueOutOfRange", "PropertyValueFormatError"}) {
    REQUIRE(redfish::FindBaseMessage(id)->argument_count == 2);
  }
  for (const char* id : {"ActionParameterValueTypeError", "ActionParameterValueNotInList"}) {
    REQUIRE(redfish::FindBaseMessage(id)->argument_count == 3);
  }
}

TEST_CASE("A message is the registry's, filled, for clients of either Message version") {
  const Json info =
      ExtendedInfo("PropertyValueNotInList", {"Lit", "IndicatorLED"}, "/IndicatorLED");
  REQUIRE(info.at("MessageId") == "Base.1.22.PropertyValueNotInList");
  REQUIRE(info.at("Message") ==
          "The value 'Lit' for the property IndicatorLED is not in the list of acceptable values.");
  REQUIRE(info.at("MessageArgs") == Json::array({"Lit", "IndicatorLED"}));
  REQUIRE(info.at("RelatedProperties") == Json::array({"/IndicatorLED"}));
  REQUIRE(info.at("Severity") == "Warning");
  REQUIRE(info.at("MessageSeverity") == "Warning");
}

TEST_CASE("A message that the registry lacks is a general error") {
  const Json info = ExtendedInfo("NoSuchMessage");
  REQUIRE(info.at("MessageId") == "Base.1.22.GeneralError");
  REQUIRE(info.at("Severity") == "Critical");
}

}  // namespace
}  // namespace shoal::mockserver
