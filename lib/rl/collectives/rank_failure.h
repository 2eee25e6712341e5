// SPDX-License-Identifier: Apache-2.0
// What a rank tells another one when it gives up: a header of kFailure (call_header.h), which may
// come in place of any other, and the text of the failure.
#pragma once

#include <chrono>
#include <string>

#include "platform/runtime/status.h"
#include "rl/collectives/call_header.h"
#include "rl/collectives/socket.h"

namespace shoal::collectives {

// The time allowed for telling the others of a failure.
inline constexpr std::chrono::seconds kTellTime{2};

bool IsFailure(const CallHeader& header);

// Sends `failure`, which is not OK, with the first kilobytes of its message. Returns the errors of
// SendAll (socket.h).
absl::Status TellFailure(int socket, const absl::Status& failure, Deadline deadline,
                         const std::string& peer);
// Returns the failure that `header` announces and whose text comes next. INTERNAL means that it
// makes no sense; also returns the errors of ReceiveAll.
absl::Status HearFailure(int socket, const CallHeader& header, Deadline deadline,
                         const std::string& peer);

}  // namespace shoal::collectives
