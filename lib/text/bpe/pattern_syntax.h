// SPDX-License-Identifier: Apache-2.0
// Regular expressions that Oniguruma and PCRE2 read alike.
#pragma once

#include <string>
#include <string_view>

#include "platform/runtime/status.h"

namespace shoal::tokens {

// `expression`, as Oniguruma reads it, for PCRE2 with UTF, Unicode properties, line feeds as ends
// of lines and ^ and $ at each of them. INVALID_ARGUMENT naming the offset of what the two read
// otherwise (pattern.h), or of what is no UTF-8.
absl::StatusOr<std::string> TranslateSyntax(std::string_view expression);

}  // namespace shoal::tokens
