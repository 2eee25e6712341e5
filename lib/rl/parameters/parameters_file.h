// SPDX-License-Identifier: Apache-2.0
// A folder of parameter files, one for each version: parameters-<epoch>-<step>.safetensors, with
// the numbers in 12 digits so that names sort as versions do. Beside each, <name>.json holds the
// spec digest, the encoder version, the size and the SHA-256.
//
// A version is complete once its .json exists, which is written last; both files are written
// atomically. LoadNewest skips a version that does not match its digest. Load returns DATA_LOSS for
// it, and NOT_FOUND for an incomplete version. Not synchronised: each folder has one writer. A
// second one, such as a process that did not end before its successor began, costs at most the
// versions that are being saved: what Save removes is never a complete one, and it then fails or
// leaves a .json alone, which is no version.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"
#include "rl/parameters/version.h"

namespace shoal::parameters {

// One version of the parameters. It is immutable.
struct Parameters {
  Version version = {};
  std::string spec_digest = {};
  std::string encoder_version = {};
  // A safetensors file.
  std::shared_ptr<const std::string> bytes = nullptr;
  // The SHA-256 of `bytes`, as 32 bytes. Empty where nobody has computed it yet.
  std::string sha256 = {};
};
using ParametersPointer = std::shared_ptr<const Parameters>;

inline constexpr std::size_t kSha256Bytes = 32;
// Returns kSha256Bytes bytes.
std::string Sha256(std::string_view bytes);

// Returns `parameters` as they are served and saved: with their SHA-256, and before it is computed
// rounded to half precision (half_precision.h) if `halves`. Parameters that have a SHA-256 are
// returned as they are. The errors are those of RoundToHalf.
absl::StatusOr<Parameters> Finished(Parameters parameters, bool halves = false);

class ParametersFolder {
 public:
  // The folder need not exist.
  explicit ParametersFolder(std::string path) : path_(std::move(path)) {}

  // First removes what a crash has left of versions that are not complete. Computes the SHA-256 if
  // the parameters do not have it.
  absl::Status Save(const Parameters& parameters) const;

  // These three return parameters with their SHA-256. Returns NOT_FOUND when the folder holds none.
  absl::StatusOr<Parameters> LoadNewest() const;
  // Loads the lowest version, which is the one that the run began with.
  absl::StatusOr<Parameters> LoadInitial() const;
  absl::StatusOr<Parameters> Load(const Version& version) const;

  // Lists the complete versions by file name, ascending.
  std::vector<Version> List() const;
  // Removes all but the lowest and the `count` highest versions. 0 keeps only the lowest.
  absl::Status KeepNewest(std::size_t count) const;

  const std::string& path() const { return path_; }
  std::string FileOf(const Version& version) const;

 private:
  void RemoveIncomplete() const;

  std::string path_;
};

}  // namespace shoal::parameters
