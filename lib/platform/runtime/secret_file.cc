// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/secret_file.h"

#include "platform/runtime/atomic_file.h"

namespace shoal::runtime {

absl::StatusOr<std::string> ReadSecret(const std::string& path) {
  constexpr std::size_t kMaximumBytes = 1 << 16;
  SHOAL_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaximumBytes));
  std::string line = text.substr(0, text.find_first_of("\r\n"));
  if (line.empty()) return FailedPrecondition(path + " begins with no secret");
  return line;
}

}  // namespace shoal::runtime
