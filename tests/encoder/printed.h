// SPDX-License-Identifier: Apache-2.0
// Parses what a command printed.
#pragma once

#include <catch2/catch.hpp>
#include <sstream>
#include <string>

namespace shoal::encoder {

// Returns the last line without its newline, which must be there.
inline std::string LastLine(const std::ostringstream& out) {
  std::string text = out.str();
  REQUIRE(text.ends_with('\n'));
  text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

inline bool Contains(const std::string& text, const std::string& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

}  // namespace shoal::encoder
