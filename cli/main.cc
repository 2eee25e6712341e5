// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/commands.h"

int main(int argc, char** argv) {
  return shoal::cli::RunCommandLine(argc, argv, shoal::runtime::SystemClock().Now());
}
