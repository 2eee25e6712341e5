// SPDX-License-Identifier: Apache-2.0
#include "cli/session/preset.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "cli/cluster/effective_config.h"
#include "placement/distribution_search.h"

namespace shoal::cli {
namespace {

constexpr std::string_view kSuffix = ".toml";

std::string FirstComment(const std::string& text) {
  const std::size_t end = text.find('\n');
  const std::string line = text.substr(0, end);
  const std::size_t begin = line.find_first_not_of("# ");
  return line.starts_with('#') && begin != std::string::npos ? line.substr(begin) : "";
}

absl::StatusOr<Preset> ReadPreset(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) return runtime::NotFound("there is no preset " + path.string());
  std::ostringstream text;
  text << file.rdbuf();
  Preset preset{.name = path.stem().string(),
                .summary = FirstComment(text.str()),
                .text = text.str(),
                .settings = {}};
  absl::StatusOr<std::vector<std::string>> settings = SettingsOf(preset.text);
  if (!settings.ok()) return runtime::Annotate(settings.status(), path.string());
  preset.settings = *std::move(settings);
  return preset;
}

}  // namespace

absl::StatusOr<std::vector<Preset>> LoadPresets(const std::string& data) {
  const std::filesystem::path folder = std::filesystem::path(data) / "presets";
  std::error_code error;
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == kSuffix) paths.push_back(entry.path());
  }
  if (error) return runtime::NotFound("there is no folder " + folder.string());
  std::sort(paths.begin(), paths.end());
  std::vector<Preset> presets;
  for (const std::filesystem::path& path : paths) {
    SHOAL_ASSIGN_OR_RETURN(Preset preset, ReadPreset(path));
    presets.push_back(std::move(preset));
  }
  return presets;
}

absl::StatusOr<Preset> LoadPreset(const std::string& name, const std::string& data) {
  if (name.ends_with(kSuffix)) return ReadPreset(name);
  SHOAL_ASSIGN_OR_RETURN(std::vector<Preset> presets, LoadPresets(data));
  std::string known;
  for (Preset& preset : presets) {
    if (preset.name == name) return std::move(preset);
    known += (known.empty() ? "" : ", ") + preset.name;
  }
  if (!placement::DefaultSettings(name).empty()) {
    return runtime::NotFound("the preset \"" + name +
                             "\" is one of `shoal place`, not of a training; those are " + known);
  }
  return runtime::NotFound("there is no preset \"" + name + "\" among " + known);
}

}  // namespace shoal::cli
