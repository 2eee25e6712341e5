// SPDX-License-Identifier: Apache-2.0
// Conversions between grpc::Status, used at the wire, and absl::Status, used everywhere else: same
// codes, same messages.
#pragma once

#include <grpcpp/support/status.h>

#include "platform/runtime/status.h"

namespace shoal::transport {

absl::Status FromGrpc(const grpc::Status& status);
grpc::Status ToGrpc(const absl::Status& status);

}  // namespace shoal::transport
