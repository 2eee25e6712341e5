// SPDX-License-Identifier: Apache-2.0
// `encoder dataset build|verify|pack|unpack|fetch|show`: makes datasets of tokens from captures,
// moves them and shows them.
//
// Errors name the file. The output ends with one line that sums up. Long work reports each tenth as
// a line on `progress`, or nowhere when that is null.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "encoder/action.h"
#include "platform/runtime/status.h"
#include "text/dataset/build.h"
#include "text/dataset/fetch.h"

namespace shoal::encoder {

struct BuildDatasetOptions {
  // `licences` and `volatile_names` are set from the three lists below.
  dataset::BuildOptions build = {};
  // "MIT" for all captures, or "dell-r750=MIT" for one.
  std::vector<std::string> licences = {};
  // Members to drop besides the volatile ones, and volatile members to keep.
  std::vector<std::string> drop = {};
  std::vector<std::string> keep = {};
  std::ostream* progress = nullptr;
};

// Also returns INVALID_ARGUMENT for a member to keep that would not be dropped.
absl::Status BuildDataset(const BuildDatasetOptions& options, std::ostream& out);

struct VerifyDatasetOptions {
  // Exactly one is set: a dataset, or a mirror folder whose archives are all verified.
  std::string dataset = {};
  std::string mirror = {};
};

absl::Status VerifyDataset(const VerifyDatasetOptions& options, std::ostream& out);

struct PackDatasetOptions {
  std::string dataset = {};
  // A folder, which is made when it is missing.
  std::string mirror = {};
  std::string name = {};
  std::ostream* progress = nullptr;
};

absl::Status PackDataset(const PackDatasetOptions& options, std::ostream& out);

struct UnpackDatasetOptions {
  std::string archive = {};
  std::string output = {};
};

absl::Status UnpackDataset(const UnpackDatasetOptions& options, std::ostream& out);

struct FetchDatasetOptions {
  dataset::FetchOptions fetch = {};
  std::ostream* progress = nullptr;
};

absl::Status FetchDataset(const FetchDatasetOptions& options, std::ostream& out);

struct ShowDatasetOptions {
  std::string dataset = {};
  // Shows the text and spans of this chunk instead of the manifest.
  std::optional<std::size_t> chunk = {};
  // Shows only spans of these kinds. Empty means all kinds.
  std::vector<std::string> kinds = {};
};

absl::Status ShowDataset(const ShowDatasetOptions& options, std::ostream& out);

// The flags of `encoder dataset`.
//
// Adds `dataset` with its commands to `app`. Parsing one sets `action`. `app` and `action` must
// outlive the parsing and the call of `action`. Progress goes to standard error.
void AddDatasetCommands(CLI::App& app, Action& action);

}  // namespace shoal::encoder
