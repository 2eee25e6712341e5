// SPDX-License-Identifier: Apache-2.0
// grpc::Status at the wire, absl::Status everywhere else: same codes, same messages.
#pragma once

#include <grpcpp/support/status.h>

#include "platform/runtime/status.h"

namespace shoal::transport {

absl::Status FromGrpc(const grpc::Status& status);
grpc::Status ToGrpc(const absl::Status& status);

}  // namespace shoal::transport
