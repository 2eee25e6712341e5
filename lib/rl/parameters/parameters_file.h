// SPDX-License-Identifier: Apache-2.0
// A folder of parameter files, one a version: parameters-<epoch>-<step>.safetensors with the
// numbers in 12 digits, so that names sort as versions do, and beside each <name>.json with the
// spec digest, the encoder version, the size and the SHA-256.
//
// A file counts once its .json is there, and the .json is written last; both atomically. What is
// incomplete or does not match its digest is skipped when looking for the newest, and DATA_LOSS
// when asked for by version. Not synchronised: one writer a folder.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"
#include "rl/parameters/version.h"

namespace shoal::parameters {

// One version, immutable.
struct Parameters {
  Version version = {};
  std::string spec_digest = {};
  std::string encoder_version = {};
  // A safetensors file.
  std::shared_ptr<const std::string> bytes = nullptr;
};

// 32 bytes.
std::string Sha256(std::string_view bytes);

class ParametersFolder {
 public:
  // The folder need not exist.
  explicit ParametersFolder(std::string path) : path_(std::move(path)) {}

  absl::Status Save(const Parameters& parameters) const;

  // NOT_FOUND when the folder holds none.
  absl::StatusOr<Parameters> LoadNewest() const;
  // The lowest version: what the run began with.
  absl::StatusOr<Parameters> LoadInitial() const;
  absl::StatusOr<Parameters> Load(const Version& version) const;

  // Complete ones by name, ascending.
  std::vector<Version> List() const;
  // Removes all but the lowest and the `count` highest versions. 0 keeps the lowest alone.
  absl::Status KeepNewest(std::size_t count) const;

  const std::string& path() const { return path_; }
  std::string FileOf(const Version& version) const;

 private:
  std::string path_;
};

}  // namespace shoal::parameters
