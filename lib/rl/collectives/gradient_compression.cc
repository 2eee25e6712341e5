// SPDX-License-Identifier: Apache-2.0
#include "rl/collectives/gradient_compression.h"

namespace shoal::collectives {

absl::Status CheckCompression(const CompressionRequest& request, const GroupOptions& group) {
  if (!request.compresses()) return absl::OkStatus();
  const auto refuse = [&request](const std::string& why) {
    return runtime::InvalidArgument(request.name + ": " + why);
  };
  if (request.value != "bfloat16") {
    return refuse("\"" + request.value + "\" is none of none, bfloat16");
  }
  if (!request.obstacle.empty()) return refuse(request.obstacle);
  if (group.reduction != Reduction::kSocket) {
    return refuse("gradients are compressed with " + request.reduction_name + " socket alone");
  }
  if (group.ring_min_bytes == 0) {
    return refuse("only what goes around a ring is compressed, and " + request.ring_name +
                  " 0 makes none");
  }
  return absl::OkStatus();
}

}  // namespace shoal::collectives
