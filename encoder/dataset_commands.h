// SPDX-License-Identifier: Apache-2.0
// `encoder dataset build|verify|pack|unpack|fetch|show`: captures as chunks of tokens, moved about
// and looked at.
//
// Errors name the file. What is printed ends with one line that sums up; how far long work is goes
// to `progress`, a line a tenth, or nowhere when that is null.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "platform/runtime/status.h"
#include "text/dataset/build.h"
#include "text/dataset/fetch.h"

namespace shoal::encoder {

struct BuildDatasetOptions {
  // `licences` and `volatile_names` are made of the three lists below.
  dataset::BuildOptions build = {};
  // "MIT" of all captures, or "dell-r750=MIT" of one.
  std::vector<std::string> licences = {};
  // Members to drop besides those that are volatile; those of the volatile ones to keep.
  std::vector<std::string> drop = {};
  std::vector<std::string> keep = {};
  std::ostream* progress = nullptr;
};

// INVALID_ARGUMENT also for a member to keep that would not be dropped.
absl::Status BuildDataset(const BuildDatasetOptions& options, std::ostream& out);

struct VerifyDatasetOptions {
  // One of them: a dataset, or all archives of a mirror that is a folder.
  std::string dataset = {};
  std::string mirror = {};
};

absl::Status VerifyDataset(const VerifyDatasetOptions& options, std::ostream& out);

struct PackDatasetOptions {
  std::string dataset = {};
  // A folder, made when it is missing.
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
  // Its text and spans instead of the manifest.
  std::optional<std::size_t> chunk = {};
  // Only spans of these kinds; empty: of all.
  std::vector<std::string> kinds = {};
};

absl::Status ShowDataset(const ShowDatasetOptions& options, std::ostream& out);

}  // namespace shoal::encoder
