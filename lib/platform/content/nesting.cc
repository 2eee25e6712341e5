// SPDX-License-Identifier: Apache-2.0
#include "platform/content/nesting.h"

#include <cstddef>

namespace shoal::content {

bool NestsDeeperThan(std::string_view json, int depth) {
  int open = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++open > depth) return true;
    } else if (c == '}' || c == ']') {
      --open;
    }
  }
  return false;
}

}  // namespace shoal::content
