// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/presets_command.h"

#include <absl/strings/str_format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>

#include "cli/commands/command_result.h"
#include "cli/session/preset.h"
#include "placement/distribution_search.h"
#include "placement/peers.h"

namespace shoal::cli {
namespace {

struct PresetsFlags {
  std::string name;
  std::string data = "data";
};

bool IsSearch(const std::string& name) {
  return std::any_of(placement::kSearches.begin(), placement::kSearches.end(),
                     [&](const placement::SearchKind& search) { return search.name == name; });
}

}  // namespace

absl::StatusOr<std::string> DescribePresets(const std::string& name, const std::string& data) {
  if (!name.empty()) {
    std::string settings = IsSearch(name) ? placement::DefaultSettings(name) : "";
    if (!settings.empty()) return settings;
    SHOAL_ASSIGN_OR_RETURN(Preset preset, LoadPreset(name, data));
    return std::move(preset.text);
  }
  SHOAL_ASSIGN_OR_RETURN(const std::vector<Preset> presets, LoadPresets(data));
  std::string text = "of `shoal train FILE --preset NAME`:\n";
  for (const Preset& preset : presets) {
    absl::StrAppendFormat(&text, "%-19s %s\n", preset.name, preset.summary);
  }
  text += "\nof `shoal place GRAPH --devices FILE --preset NAME`:\n";
  for (const placement::SearchKind& search : placement::kSearches) {
    if (placement::DefaultSettings(search.name).empty()) continue;
    absl::StrAppendFormat(&text, "%-19s %s\n", search.name, search.summary);
  }
  return text;
}

void AddPresets(CLI::App& app, std::function<int()>& action) {
  const auto flags = std::make_shared<PresetsFlags>();
  CLI::App* const presets = app.add_subcommand(
      "presets",
      "List the presets of algorithms for `train --preset` and of searches for `place --preset`, "
      "or print one");
  presets->add_option("NAME", flags->name, "a preset's name, or the path of a .toml file");
  presets->add_option("--data", flags->data, "folder that holds presets/")->capture_default_str();
  presets->callback([flags, &action] {
    action = [flags] { return PrintResult(DescribePresets(flags->name, flags->data)); };
  });
}

}  // namespace shoal::cli
