// SPDX-License-Identifier: Apache-2.0
// Parsers of the shipped goals on shipped captures, made once for all cases.
#pragma once

#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>

#include "tests/redfish/capture/shipped.h"
#include "text/intent/intent_parser.h"
#include "text/lexical/lexical_encoder.h"

namespace shoal::intent {

inline const IntentParser& ParserOf(const std::string& capture) {
  static const auto encoder = tokens::LexicalEncoder::Create("data/encoder/lexical.idf").value();
  static const auto language = ReadIntentLanguage("data/goals", *encoder).value();
  static std::map<std::string, std::unique_ptr<const IntentParser>> parsers;
  auto& parser = parsers[capture];
  if (parser == nullptr) {
    auto created = IntentParser::Create(language, redfish::Shipped(capture));
    REQUIRE(created.ok());
    parser = *std::move(created);
  }
  return *parser;
}

}  // namespace shoal::intent
