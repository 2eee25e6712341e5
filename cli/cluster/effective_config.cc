// SPDX-License-Identifier: Apache-2.0
#include "cli/cluster/effective_config.h"

#include <absl/strings/str_format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "cli/cluster/child_process.h"

namespace shoal::cli {
namespace {

// Returns "actor" for "[actor.http]", "replay" for "[[replay.table]]", and "" for any other line.
std::string SectionOf(const std::string& line) {
  const std::size_t begin = line.find_first_not_of('[');
  if (begin == 0 || begin == std::string::npos || line.back() != ']') return "";
  return line.substr(begin, line.find_first_of(".]", begin) - begin);
}

// Adds the sections of `printed` that `taken` lacks.
void AppendNew(const std::string& printed, std::set<std::string>& taken, std::string& text) {
  std::set<std::string> fresh;
  std::istringstream lines(printed);
  bool keep = false;
  for (std::string line; std::getline(lines, line);) {
    if (const std::string section = SectionOf(line); !section.empty()) {
      keep = !taken.contains(section);
      if (keep) fresh.insert(section);
    }
    if (keep) text += line + "\n";
  }
  taken.merge(fresh);
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

template <typename Value>
std::optional<Value> ValueAt(const std::string& text, const std::string& path) {
  const toml::parse_result parsed = toml::parse(text);
  return parsed.table().at_path(path).value<Value>();
}

}  // namespace

absl::StatusOr<EffectiveConfig> EffectiveConfig::Gather(const std::string& own,
                                                        const std::vector<std::string>& programs,
                                                        const std::vector<std::string>& arguments) {
  std::vector<std::vector<std::string>> commands;
  for (const std::string& program : programs) {
    std::vector<std::string>& command = commands.emplace_back();
    command.push_back(program);
    command.insert(command.end(), arguments.begin(), arguments.end());
    command.emplace_back("--print-config");
  }
  std::vector<std::string> printed;
  for (absl::StatusOr<std::string>& text : RunAllToEnd(commands)) {
    SHOAL_RETURN_IF_ERROR(text.status());
    printed.push_back(*std::move(text));
  }
  return PutTogether(own, std::move(printed));
}

absl::StatusOr<EffectiveConfig> EffectiveConfig::PutTogether(const std::string& own,
                                                             std::vector<std::string> printed) {
  EffectiveConfig config;
  std::set<std::string> taken;
  AppendNew(own, taken, config.text_);
  for (const std::string& text : printed) AppendNew(text, taken, config.text_);
  const toml::parse_result parsed = toml::parse(config.text_);
  if (!parsed) {
    return runtime::Internal("the programs' configuration does not parse: " +
                             std::string(parsed.error().description()));
  }
  config.printed_ = std::move(printed);
  return config;
}

absl::StatusOr<EffectiveConfig> EffectiveConfig::WithOwn(const std::string& own) const {
  return PutTogether(own, printed_);
}

std::optional<std::string> EffectiveConfig::Text(const std::string& path) const {
  return ValueAt<std::string>(text_, path);
}

std::optional<std::int64_t> EffectiveConfig::Integer(const std::string& path) const {
  return ValueAt<std::int64_t>(text_, path);
}

std::optional<double> EffectiveConfig::Number(const std::string& path) const {
  return ValueAt<double>(text_, path);
}

std::vector<std::string> EffectiveConfig::Texts(const std::string& path) const {
  std::vector<std::string> values;
  const toml::parse_result parsed = toml::parse(text_);
  if (const toml::array* const array = parsed.table().at_path(path).as_array()) {
    for (const toml::node& node : *array) {
      if (const auto value = node.value<std::string>()) values.push_back(*value);
    }
  }
  return values;
}

absl::StatusOr<std::vector<std::string>> SettingsOf(const std::string& toml) {
  const toml::parse_result parsed = toml::parse(toml);
  if (!parsed) {
    std::ostringstream where;
    where << parsed.error().source().begin;
    return runtime::InvalidArgument(where.str() + ": " + std::string(parsed.error().description()));
  }
  std::vector<std::string> settings;
  Flatten("", parsed.table(), settings);
  return settings;
}

bool AreAllOf(std::span<const std::string> settings, std::initializer_list<std::string> sections) {
  return std::ranges::all_of(settings, [&](const std::string& setting) {
    return std::ranges::any_of(
        sections, [&](const std::string& section) { return setting.starts_with(section + "."); });
  });
}

void AppendSettings(const std::vector<std::string>& settings, std::vector<std::string>& arguments) {
  for (const std::string& setting : settings) {
    arguments.insert(arguments.end(), {"--set", setting});
  }
}

std::string TomlText(const std::string& value) {
  std::string text = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') text.push_back('\\');
    if (static_cast<unsigned char>(c) >= 0x20) {
      text.push_back(c);
      continue;
    }
    text += absl::StrFormat("\\u%04x", static_cast<unsigned char>(c));
  }
  return text + "\"";
}

std::string TomlList(const std::vector<std::string>& values) {
  std::string text = "[";
  for (const std::string& value : values) text += (text.size() > 1 ? ", " : "") + TomlText(value);
  return text + "]";
}

}  // namespace shoal::cli
