// SPDX-License-Identifier: Apache-2.0
// The parts of a body of the media type multipart/form-data (RFC 7578; RFC 2046, section 5.1), in
// which clients push files.
//
//   Content-Type: multipart/form-data; boundary=xyz
//
//   --xyz
//   Content-Disposition: form-data; name="UpdateParameters"
//   Content-Type: application/json
//
//   {"Targets": []}
//   --xyz
//   Content-Disposition: form-data; name="UpdateFile"; filename="bios-1.1.bin"
//
//   (bytes)
//   --xyz--
//
// Bodies come from peers, so the parser takes any bytes. Text before the first boundary and after
// the last one is ignored. A content may hold any bytes, among them zeros and the boundary inside
// a line. A body is malformed when its last boundary is missing, when a part has no name, when a
// header is longer than kMaximumPartHeader, folded or without a colon, and when there are more
// than kMaximumFormParts parts.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"

namespace shoal::mockserver {

inline constexpr std::size_t kMaximumFormParts = 64;
// The bytes of all header lines of one part.
inline constexpr std::size_t kMaximumPartHeader = 8192;
// The characters of a boundary.
inline constexpr std::size_t kMaximumBoundary = 70;

struct FormPart {
  std::string name;
  // Nothing when the part is no file.
  std::optional<std::string> file_name;
  // Borrowed from the body.
  std::string_view content;
};

// Returns whether `content_type`, the value of a Content-Type header, is multipart/form-data.
bool IsMultipart(std::string_view content_type);

// Returns the parts in the order of the body. Returns INVALID_ARGUMENT, with the reason, when
// `content_type` is not multipart/form-data, has no valid boundary, or when the body is malformed.
absl::StatusOr<std::vector<FormPart>> ParseMultipart(std::string_view content_type,
                                                     std::string_view body);

}  // namespace shoal::mockserver
