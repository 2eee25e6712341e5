// SPDX-License-Identifier: Apache-2.0
// The action that the flags of `encoder` choose, and how a command binds to it.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <iosfwd>
#include <memory>

#include "platform/runtime/status.h"

namespace shoal::encoder {

// Empty until flags are parsed. An action prints to the stream that it is given.
using Action = std::function<absl::Status(std::ostream&)>;

// When `command` is parsed, `action` becomes a call of `run` with the `options` that its flags have
// filled in.
template <typename Options>
void Bind(CLI::App& command, Action& action, std::shared_ptr<Options> options,
          absl::Status (*run)(const Options&, std::ostream&)) {
  command.callback([&action, options, run] {
    action = [options, run](std::ostream& out) { return run(*options, out); };
  });
}

}  // namespace shoal::encoder
