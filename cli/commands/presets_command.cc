// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/presets_command.h"

#include <absl/strings/str_format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/commands/command_result.h"
#include "cli/session/preset.h"

namespace shoal::cli {
namespace {

struct PresetsFlags {
  std::string name;
  std::string data = "data";
};

absl::StatusOr<std::string> Describe(const PresetsFlags& flags) {
  if (!flags.name.empty()) {
    SHOAL_ASSIGN_OR_RETURN(Preset preset, LoadPreset(flags.name, flags.data));
    return std::move(preset.text);
  }
  SHOAL_ASSIGN_OR_RETURN(const std::vector<Preset> presets, LoadPresets(flags.data));
  std::string text;
  for (const Preset& preset : presets) {
    absl::StrAppendFormat(&text, "%-12s %s\n", preset.name, preset.summary);
  }
  return text;
}

}  // namespace

void AddPresets(CLI::App& app, std::function<int()>& action) {
  const auto flags = std::make_shared<PresetsFlags>();
  CLI::App* const presets = app.add_subcommand(
      "presets", "List the presets of algorithms for `train --preset`, or print one");
  presets->add_option("NAME", flags->name, "a preset's name, or the path of a .toml file");
  presets->add_option("--data", flags->data, "folder that holds presets/")->capture_default_str();
  presets->callback(
      [flags, &action] { action = [flags] { return PrintResult(Describe(*flags)); }; });
}

}  // namespace shoal::cli
