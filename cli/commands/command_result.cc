// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/command_result.h"

#include <cstdio>

#include "platform/runtime/program.h"

namespace shoal::cli {

int FailCommand(const absl::Status& status) {
  std::fprintf(stderr, "shoal: %s\n", runtime::Message(status).c_str());
  const bool wrong = absl::IsInvalidArgument(status) || absl::IsNotFound(status) ||
                     absl::IsAlreadyExists(status) || absl::IsFailedPrecondition(status);
  return wrong ? runtime::kExitConfiguration : runtime::kExitFailed;
}

int PrintResult(const absl::StatusOr<std::string>& text) {
  if (!text.ok()) return FailCommand(text.status());
  std::fputs(text->c_str(), stdout);
  return 0;
}

}  // namespace shoal::cli
