// SPDX-License-Identifier: Apache-2.0
// The configuration of a whole cluster as its programs understand it. Every program is asked with
// --print-config, so a mistake anywhere is one error before anything has started.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "platform/runtime/status.h"

namespace shoal::cli {

class EffectiveConfig {
 public:
  // Runs `programs` (paths) side by side with `arguments` and --print-config. `own` has the
  // sections of this program. Of programs that print the same section the first one counts, and
  // this one before all others. Where programs fail, the error is that of the first one in the
  // list: INVALID_ARGUMENT with its message when it refuses its configuration, or as of RunToEnd.
  static absl::StatusOr<EffectiveConfig> Gather(const std::string& own,
                                                const std::vector<std::string>& programs,
                                                const std::vector<std::string>& arguments);
  // Returns the same with other values in this program's sections. `own` must have the same
  // sections as before. The programs are not asked again: a section that several programs read is
  // checked by each of them alike.
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

// Returns whether each of `settings`, "section.key=value", is of one of `sections`.
bool AreAllOf(std::span<const std::string> settings, std::initializer_list<std::string> sections);

// Appends each of `settings`, "section.key=value", to a program's arguments, after a --set.
void AppendSettings(const std::vector<std::string>& settings, std::vector<std::string>& arguments);

// Returns `value` as TOML, quoted and escaped.
std::string TomlText(const std::string& value);
std::string TomlList(const std::vector<std::string>& values);

}  // namespace shoal::cli
