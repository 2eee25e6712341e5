// SPDX-License-Identifier: Apache-2.0
// A preset is a file of settings that make one algorithm of a cluster: its tables of replay, its
// unrolls, its head and its options. It says nothing about the environment, so any cluster file can
// be trained with it. `data/presets` holds those that ship.
#pragma once

#include <string>
#include <vector>

#include "platform/runtime/status.h"

namespace shoal::cli {

struct Preset {
  std::string name;
  // The first comment of the file.
  std::string summary;
  // The whole file, in TOML.
  std::string text;
  // The settings, each "section.key=value", in the file's order; a list of tables is indexed from
  // 0.
  std::vector<std::string> settings;
};

// Returns the presets of `data`/presets in the order of their names. NOT_FOUND without the folder.
absl::StatusOr<std::vector<Preset>> LoadPresets(const std::string& data);

// Returns the preset of that name, or the one in the file of that path where `name` ends in
// ".toml". NOT_FOUND lists the known names; INVALID_ARGUMENT names the file and what is wrong in
// it.
absl::StatusOr<Preset> LoadPreset(const std::string& name, const std::string& data);

}  // namespace shoal::cli
