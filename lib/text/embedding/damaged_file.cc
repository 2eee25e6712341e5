// SPDX-License-Identifier: Apache-2.0
#include "text/embedding/damaged_file.h"

#include <filesystem>
#include <system_error>

namespace shoal::embedding {
namespace {

// Empty where every name is of something that must stay.
std::string PlaceFor(const std::string& path) {
  std::string oldest;
  std::filesystem::file_time_type oldest_time;
  for (int number = 1; number <= kMaxDamagedFiles; ++number) {
    const std::string place = path + ".damaged" + (number == 1 ? "" : "." + std::to_string(number));
    std::error_code error;
    const auto status = std::filesystem::symlink_status(place, error);
    if (status.type() == std::filesystem::file_type::not_found) return place;
    if (status.type() != std::filesystem::file_type::regular) continue;
    const auto time = std::filesystem::last_write_time(place, error);
    if (error || (!oldest.empty() && time >= oldest_time)) continue;
    oldest = place;
    oldest_time = time;
  }
  return oldest;
}

}  // namespace

absl::StatusOr<std::string> MoveAside(const std::string& path) {
  const std::string place = PlaceFor(path);
  if (place.empty()) {
    return runtime::FailedPrecondition("cannot be moved: " + path + ".damaged is no plain file");
  }
  // The log goes first: left behind, it would be taken for the next file's.
  std::error_code error;
  for (const char* companion : {"-wal", "-shm"}) std::filesystem::remove(place + companion, error);
  std::filesystem::rename(path + "-wal", place + "-wal", error);
  std::filesystem::remove(path + "-shm", error);
  std::filesystem::rename(path, place, error);
  if (!error) return place;
  return runtime::FailedPrecondition("cannot be moved to " + place + ": " + error.message());
}

}  // namespace shoal::embedding
