// SPDX-License-Identifier: Apache-2.0
// A digest tells whether a secret is the one that was given before, and costs too much to find the
// secret out from it.
//
// It is made by scrypt (RFC 7914) with a salt of its own, N = 2^15, r = 8 and p = 1, so each guess
// takes about 0.1 s and 32 MiB. Safe for any number of threads.
#pragma once

#include <string>
#include <string_view>

#include "platform/runtime/status.h"

namespace shoal::operate {

// Returns a digest of `secret` as "<salt>:<hash>" in Base64, another one at each call.
// INTERNAL: there is no memory, or no randomness.
absl::StatusOr<std::string> DigestOf(std::string_view secret);

// Returns whether `digest` is one of `secret`; a text that is no digest is none. INTERNAL as above.
absl::StatusOr<bool> IsDigestOf(std::string_view digest, std::string_view secret);

}  // namespace shoal::operate
