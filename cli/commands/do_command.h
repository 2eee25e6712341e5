// SPDX-License-Identifier: Apache-2.0
// `shoal do SENTENCE`: reaches a goal on real hosts. It announces what it would do, and does it
// only with --execute or a typed yes.
#pragma once

#include <CLI/App.hpp>
#include <functional>

namespace shoal::cli {

// The exit codes of `shoal do` beside those of platform/runtime/program.h. Of several hosts, the
// first that is not 0 counts.
inline constexpr int kExitDifference = 3;
inline constexpr int kExitNotPermitted = 4;
inline constexpr int kExitInterrupted = 5;

// Adds the subcommand to `app`. Parsing it sets `action` to a function that runs it and returns the
// exit code.
void AddDo(CLI::App& app, std::function<int()>& action);

}  // namespace shoal::cli
