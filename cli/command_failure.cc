// SPDX-License-Identifier: Apache-2.0
#include "cli/command_failure.h"

#include <cstdio>

#include "runtime/program.h"

namespace shoal::cli {

int FailCommand(const absl::Status& status) {
  std::fprintf(stderr, "shoal: %s\n", runtime::Message(status).c_str());
  const bool wrong = absl::IsInvalidArgument(status) || absl::IsNotFound(status) ||
                     absl::IsAlreadyExists(status) || absl::IsFailedPrecondition(status);
  return wrong ? runtime::kExitConfiguration : runtime::kExitFailed;
}

}  // namespace shoal::cli
