// SPDX-License-Identifier: Apache-2.0
// The configuration of a whole cluster as its programs understand it. Every program is asked with
// --print-config, so a mistake anywhere is one error before anything has started.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "platform/runtime/status.h"

namespace shoal::cli {

class EffectiveConfig {
 public:
  // Runs `programs` (paths) side by side with `arguments` and --print-config. `own` is the part of
  // this program. A section belongs to the first program that prints it, and this one's are before
  // all others. Returns INVALID_ARGUMENT with the message of the first program that refuses.
  static absl::StatusOr<EffectiveConfig> Gather(const std::string& own,
                                                const std::vector<std::string>& programs,
                                                const std::vector<std::string>& arguments);
  // Returns the same with another part of this program. The programs are not asked again, so what
  // they refuse in those sections has to be what this program refuses.
  absl::StatusOr<EffectiveConfig> WithOwn(const std::string& own) const;

  // Returns all sections as TOML, with their comments.
  const std::string& text() const { return text_; }
  // Returns the value of section.key, or nothing (an empty list) when there is none of that type.
  std::optional<std::string> Text(const std::string& path) const;
  std::optional<std::int64_t> Integer(const std::string& path) const;
  // The same for a number with or without a fraction.
  std::optional<double> Number(const std::string& path) const;
  std::vector<std::string> Texts(const std::string& path) const;

 private:
  EffectiveConfig() = default;

  static absl::StatusOr<EffectiveConfig> PutTogether(const std::string& own,
                                                     std::vector<std::string> printed);

  std::string text_;
  // What each program printed.
  std::vector<std::string> printed_;
};

// Returns the settings of a TOML text, each "section.key=value", in the text's order; tables of a
// list are indexed from 0. INVALID_ARGUMENT says where it is wrong.
absl::StatusOr<std::vector<std::string>> SettingsOf(const std::string& toml);

// Appends each of `settings`, "section.key=value", to a program's arguments, after a --set.
void AppendSettings(const std::vector<std::string>& settings, std::vector<std::string>& arguments);

// Returns `value` as TOML, quoted and escaped.
std::string TomlText(const std::string& value);
std::string TomlList(const std::vector<std::string>& values);

}  // namespace shoal::cli
