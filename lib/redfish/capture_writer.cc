// SPDX-License-Identifier: Apache-2.0
#include "redfish/capture_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "content/content_key.h"
#include "redfish/uri.h"
#include "runtime/atomic_file.h"

namespace shoal::redfish {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestSegment = 255;
constexpr std::size_t kLongestUri = 3500;
constexpr std::string_view kTree = "redfish";
constexpr std::string_view kFresh = ".fresh";
constexpr std::string_view kIndexFile = "index.json";

bool IsSegment(std::string_view segment) {
  if (segment.empty() || segment.size() > kLongestSegment) return false;
  if (segment == "." || segment == ".." || segment == kIndexFile) return false;
  return std::all_of(segment.begin(), segment.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f && c != '\\';
  });
}

absl::Status Failed(const std::string& action, const fs::path& path, std::error_code error) {
  const std::string text = action + " " + path.string() + ": " + error.message();
  return error == std::errc::no_space_on_device ? runtime::ResourceExhausted(text)
                                                : runtime::Internal(text);
}

// All that was written to the file system of `folder`: one call instead of two a file.
absl::Status SyncFileSystem(const std::string& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = fd >= 0 && ::syncfs(fd) == 0;
  const std::error_code error(errno, std::generic_category());
  if (fd >= 0) ::close(fd);
  return synced ? absl::OkStatus() : Failed("cannot sync", folder, error);
}

}  // namespace

std::optional<std::string> CaptureFileOf(std::string_view uri) {
  if (uri != kServiceRoot && !uri.starts_with(std::string(kServiceRoot) + "/")) return std::nullopt;
  if (uri.size() > kLongestUri) return std::nullopt;
  for (std::string_view rest = uri.substr(1); !rest.empty();) {
    const std::size_t end = std::min(rest.find('/'), rest.size());
    if (!IsSegment(rest.substr(0, end))) return std::nullopt;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return std::string(uri.substr(1)) + "/" + std::string(kIndexFile);
}

std::string CaptureText(const nlohmann::json& body) {
  return body.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

CaptureWriter::CaptureWriter(std::string folder)
    : folder_(std::move(folder)), fresh_(folder_ + "/" + std::string(kFresh)) {}

absl::StatusOr<std::unique_ptr<CaptureWriter>> CaptureWriter::Create(const std::string& folder) {
  std::unique_ptr<CaptureWriter> writer(new CaptureWriter(folder));
  std::error_code error;
  fs::remove_all(writer->fresh_, error);
  if (error) return Failed("cannot remove", writer->fresh_, error);
  fs::create_directories(writer->fresh_, error);
  if (error) return Failed("cannot make folder", writer->fresh_, error);
  return writer;
}

absl::Status CaptureWriter::Add(const std::string& uri, const nlohmann::json& body) {
  const std::optional<std::string> file = CaptureFileOf(uri);
  if (!file) return runtime::InvalidArgument(uri + " cannot be the path of a file");
  const std::string text = CaptureText(body);
  const fs::path path = fs::path(fresh_) / *file;
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) return Failed("cannot make folder", path.parent_path(), error);
  std::ofstream stream(path, std::ios::binary);
  stream << text;
  stream.close();
  if (!stream) return Failed("cannot write", path, {errno, std::generic_category()});
  checksums_[uri] = content::Sha256Hex(text);
  return absl::OkStatus();
}

absl::Status CaptureWriter::Commit(Manifest manifest) {
  for (const auto& [uri, checksum] : checksums_) manifest.resources[uri].sha256 = checksum;
  SHOAL_RETURN_IF_ERROR(SyncFileSystem(fresh_));
  const fs::path manifest_path = fs::path(folder_) / kManifestFile;
  const fs::path tree = fs::path(folder_) / kTree;
  std::error_code error;
  // First, so that it never speaks of another tree than the one beside it.
  fs::remove(manifest_path, error);
  if (!error) fs::remove_all(tree, error);
  if (error) return Failed("cannot remove the old capture in", folder_, error);
  fs::rename(fs::path(fresh_) / kTree, tree, error);
  if (error) return Failed("cannot rename to", tree, error);
  fs::remove_all(fresh_, error);
  return runtime::WriteFileAtomically(manifest_path.string(), manifest.ToJson());
}

}  // namespace shoal::redfish
