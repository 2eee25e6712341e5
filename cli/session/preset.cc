// SPDX-License-Identifier: Apache-2.0
#include "cli/session/preset.h"

#include <toml++/toml.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

namespace shoal::cli {
namespace {

constexpr std::string_view kSuffix = ".toml";

std::string FirstComment(const std::string& text) {
  const std::size_t end = text.find('\n');
  const std::string line = text.substr(0, end);
  const std::size_t begin = line.find_first_not_of("# ");
  return line.starts_with('#') && begin != std::string::npos ? line.substr(begin) : "";
}

void Flatten(const std::string& path, const toml::node& node, std::vector<std::string>& settings) {
  const auto below = [&](std::string_view key) {
    return path.empty() ? std::string(key) : path + "." + std::string(key);
  };
  if (const toml::table* const table = node.as_table()) {
    std::vector<std::pair<const toml::key*, const toml::node*>> entries;
    for (const auto& entry : *table) entries.emplace_back(&entry.first, &entry.second);
    std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
      const auto begin = [](const auto& entry) { return entry.second->source().begin; };
      return begin(a).line != begin(b).line ? begin(a).line < begin(b).line
                                            : begin(a).column < begin(b).column;
    });
    for (const auto& entry : entries) Flatten(below(entry.first->str()), *entry.second, settings);
    return;
  }
  const toml::array* const array = node.as_array();
  if (array != nullptr && !array->empty() && array->is_array_of_tables()) {
    for (std::size_t i = 0; i < array->size(); ++i) {
      Flatten(below(std::to_string(i)), (*array)[i], settings);
    }
    return;
  }
  std::ostringstream value;
  node.visit([&value](const auto& leaf) { value << toml::toml_formatter(leaf); });
  settings.push_back(path + "=" + value.str());
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
  const toml::parse_result parsed = toml::parse(preset.text, path.string());
  if (!parsed) {
    std::ostringstream where;
    where << parsed.error().source().begin;
    return runtime::InvalidArgument(path.string() + ": " + where.str() + ": " +
                                    std::string(parsed.error().description()));
  }
  Flatten("", parsed.table(), preset.settings);
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
  return runtime::NotFound("there is no preset \"" + name + "\" among " + known);
}

}  // namespace shoal::cli
