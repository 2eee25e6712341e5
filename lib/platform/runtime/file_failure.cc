// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/file_failure.h"

#include <cerrno>
#include <system_error>
#include <utility>

namespace shoal::runtime {

absl::Status FileFailure(int error, const std::string& action) {
  std::string text = action + ": " + std::generic_category().message(error);
  return error == ENOSPC || error == EDQUOT ? ResourceExhausted(std::move(text))
                                            : Internal(std::move(text));
}

}  // namespace shoal::runtime
