// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/status.h"

namespace shoal::runtime {

absl::Status Annotate(const absl::Status& status, std::string_view context) {
  if (status.ok()) return status;
  return absl::Status(status.code(), std::string(context) + ": " + Message(status));
}

}  // namespace shoal::runtime
