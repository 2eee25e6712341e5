// SPDX-License-Identifier: Apache-2.0
#include "text/intent/token_shape.h"

#include <absl/strings/ascii.h>

#include <cstddef>

namespace shoal::intent {

TokenShape ShapeOf(std::string_view text) {
  TokenShape shape;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (absl::ascii_isdigit(byte)) {
      shape.digit = true;
    } else if (absl::ascii_isupper(byte)) {
      shape.upper = true;
      shape.inner_upper |= i > 0;
    } else if (absl::ascii_islower(byte) || byte >= 0x80) {
      shape.lower = true;
    } else if (byte == '-' || byte == '_' || byte == '.') {
      shape.dash = true;
    } else if (byte != '\'') {
      shape.sign = true;
    }
  }
  return shape;
}

bool LooksLikeValue(const Token& token) {
  return token.kind == TokenKind::kQuoted || !ShapeOf(token.text).is_plain();
}

}  // namespace shoal::intent
