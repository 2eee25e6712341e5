// SPDX-License-Identifier: Apache-2.0
// "https://example.org/datasets" or "http://127.0.0.1:8000", taken apart.
#pragma once

#include <string>
#include <string_view>

#include "platform/runtime/status.h"

namespace shoal::dataset {

struct MirrorUrl {
  // "host:port".
  std::string address = {};
  bool secure = false;
  // Begins and ends with '/'.
  std::string path = {};

  // "https://host:port/path/".
  std::string Text() const { return (secure ? "https://" : "http://") + address + path; }
};

// Whether `text` says a scheme, and so is no folder.
bool IsUrl(std::string_view text);

// Without a port it is 443 or 80. INVALID_ARGUMENT naming `text` for another scheme, a user, a
// query or a fragment in it, a blank or control character, or no host.
absl::StatusOr<MirrorUrl> ParseMirrorUrl(std::string_view text);

}  // namespace shoal::dataset
