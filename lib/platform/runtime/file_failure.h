// SPDX-License-Identifier: Apache-2.0
// The error of a call on a file that failed, in which a full disk is told apart.
#pragma once

#include <string>

#include "platform/runtime/status.h"

namespace shoal::runtime {

// Returns RESOURCE_EXHAUSTED where `error`, an errno, says that a disk is full or a quota used up,
// and INTERNAL otherwise. The message is `action`, such as "cannot write <path>", and the system's
// reason.
absl::Status FileFailure(int error, const std::string& action);

}  // namespace shoal::runtime
