// SPDX-License-Identifier: Apache-2.0
#include "rl/training/checkpoint.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "platform/runtime/atomic_file.h"
#include "rl/model/digest.h"

namespace shoal::training {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::string_view kPrefix = "checkpoint-";
constexpr const char* kManifest = "manifest.json";
constexpr const char* kLatest = "LATEST";

bool IsPlainName(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name != kManifest &&
         name.find('/') == std::string::npos && name.find('\0') == std::string::npos;
}

std::string FolderName(std::int64_t number) {
  std::string digits = std::to_string(number);
  digits.insert(0, digits.size() < 12 ? 12 - digits.size() : 0, '0');
  return std::string(kPrefix) + digits;
}

// Returns -1 for a folder that is not a checkpoint.
std::int64_t NumberOf(const std::string& folder) {
  if (!folder.starts_with(kPrefix)) return -1;
  const std::string digits = folder.substr(kPrefix.size());
  if (digits.empty() || digits.size() > 18) return -1;
  for (const char c : digits) {
    if (c < '0' || c > '9') return -1;
  }
  return std::stoll(digits);
}

// Returns the numbers of the checkpoints, newest first.
std::vector<std::int64_t> Numbers(const std::string& root) {
  std::vector<std::int64_t> numbers;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root, error)) {
    const std::int64_t number = NumberOf(entry.path().filename().string());
    if (number >= 0) numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end(), std::greater<>());
  return numbers;
}

absl::Status SyncFolder(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return runtime::Internal("cannot open folder " + path);
  const int failed = ::fsync(fd);
  ::close(fd);
  return failed == 0 ? absl::OkStatus() : runtime::Internal("cannot sync folder " + path);
}

absl::Status WriteFiles(const std::string& folder, const Checkpoint& checkpoint) {
  json files = json::object();
  for (const auto& [name, bytes] : checkpoint.files) {
    if (!IsPlainName(name)) {
      return runtime::InvalidArgument("checkpoint: '" + name + "' is no plain file name");
    }
    SHOAL_RETURN_IF_ERROR(runtime::WriteFileAtomically(folder + "/" + name, bytes));
    files[name] = {{"bytes", bytes.size()}, {"sha256", model::HexSha256(bytes)}};
  }
  const json manifest = {{"version", 1}, {"number", checkpoint.number}, {"files", files}};
  return runtime::WriteFileAtomically(folder + "/" + kManifest, manifest.dump(2) + "\n");
}

absl::StatusOr<Checkpoint> ReadOne(const std::string& root, std::int64_t number) {
  const std::string folder = root + "/" + FolderName(number);
  SHOAL_ASSIGN_OR_RETURN(const std::string text, runtime::ReadFile(folder + "/" + kManifest));
  const json manifest = json::parse(text, nullptr, /*allow_exceptions=*/false);
  const json files = manifest.is_object() ? manifest.value("files", json()) : json();
  if (!files.is_object()) return runtime::DataLoss(folder + "/" + kManifest + " is no manifest");
  Checkpoint checkpoint{number, {}};
  for (const auto& [name, info] : files.items()) {
    if (!IsPlainName(name) || !info.is_object() || !info.contains("sha256") ||
        !info["sha256"].is_string() || !info.contains("bytes") ||
        !info["bytes"].is_number_unsigned()) {
      return runtime::DataLoss(folder + "/" + kManifest + ": bad entry '" + name + "'");
    }
    SHOAL_ASSIGN_OR_RETURN(std::string bytes, runtime::ReadFile(folder + "/" + name));
    if (bytes.size() != info["bytes"].get<std::uint64_t>() ||
        model::HexSha256(bytes) != info["sha256"].get<std::string>()) {
      return runtime::DataLoss(folder + "/" + name + " is not what was written");
    }
    checkpoint.files[name] = std::move(bytes);
  }
  return checkpoint;
}

absl::Status WriteOrThrow(const std::string& root, const Checkpoint& checkpoint,
                          std::int64_t keep) {
  const std::string name = FolderName(checkpoint.number);
  const std::string beside = root + "/.writing-" + name;
  const std::string folder = root + "/" + name;
  fs::create_directories(root);
  fs::remove_all(beside);
  fs::create_directories(beside);
  SHOAL_RETURN_IF_ERROR(WriteFiles(beside, checkpoint));
  SHOAL_RETURN_IF_ERROR(SyncFolder(beside));
  fs::remove_all(folder);
  fs::rename(beside, folder);
  SHOAL_RETURN_IF_ERROR(SyncFolder(root));
  SHOAL_RETURN_IF_ERROR(runtime::WriteFileAtomically(root + "/" + kLatest, name + "\n"));
  const std::vector<std::int64_t> numbers = Numbers(root);
  for (auto i = static_cast<std::size_t>(std::max<std::int64_t>(keep, 1)); i < numbers.size();
       ++i) {
    fs::remove_all(root + "/" + FolderName(numbers[i]));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status WriteCheckpoint(const std::string& root, const Checkpoint& checkpoint,
                             std::int64_t keep) {
  if (checkpoint.number < 0) return runtime::InvalidArgument("checkpoint: negative number");
  try {
    return WriteOrThrow(root, checkpoint, keep);
  } catch (const std::exception& error) {
    return runtime::Internal("checkpoint in " + root + ": " + error.what());
  }
}

absl::StatusOr<Checkpoint> ReadNewestCheckpoint(const std::string& root) {
  try {
    std::string problems;
    for (const std::int64_t number : Numbers(root)) {
      absl::StatusOr<Checkpoint> checkpoint = ReadOne(root, number);
      if (checkpoint.ok()) return checkpoint;
      problems += "; " + runtime::Message(checkpoint.status());
    }
    return runtime::NotFound("no whole checkpoint in " + root + problems);
  } catch (const std::exception& error) {
    return runtime::Internal("checkpoint in " + root + ": " + error.what());
  }
}

}  // namespace shoal::training
