// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/status.h"

namespace shoal::runtime {

absl::Status Annotate(const absl::Status& status, std::string_view context) {
  if (status.ok()) return status;
  absl::Status annotated(status.code(), std::string(context) + ": " + Message(status));
  status.ForEachPayload([&annotated](absl::string_view type, const absl::Cord& payload) {
    annotated.SetPayload(type, payload);
  });
  return annotated;
}

}  // namespace shoal::runtime
