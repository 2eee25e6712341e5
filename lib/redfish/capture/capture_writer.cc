// SPDX-License-Identifier: Apache-2.0
#include "redfish/capture/capture_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "platform/content/content_key.h"
#include "platform/runtime/file_failure.h"
#include "redfish/capture/capture.h"
#include "redfish/capture/uri.h"

namespace shoal::redfish {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestSegment = 255;
constexpr std::size_t kLongestUri = 3500;
constexpr std::string_view kTree = "redfish";
constexpr std::string_view kFresh = ".fresh";
constexpr std::string_view kOld = ".old";

bool IsSegment(std::string_view segment) {
  if (segment.empty() || segment.size() > kLongestSegment) return false;
  if (segment == "." || segment == ".." || segment == kIndexFile) return false;
  return std::all_of(segment.begin(), segment.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f && c != '\\';
  });
}

absl::Status Failed(const std::string& action, const fs::path& path, std::error_code error) {
  return runtime::FileFailure(error.value(), action + " " + path.string());
}

// Syncs everything written to the file system of `folder`: one call instead of two for each file.
absl::Status SyncFileSystem(const std::string& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = fd >= 0 && ::syncfs(fd) == 0;
  const std::error_code error(errno, std::generic_category());
  if (fd >= 0) ::close(fd);
  return synced ? absl::OkStatus() : Failed("cannot sync", folder, error);
}

// Moves `from` to `to`; a missing `from` is no error.
absl::Status Move(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (!error || error == std::errc::no_such_file_or_directory) return absl::OkStatus();
  return Failed("cannot rename " + from.string() + " to", to, error);
}

absl::Status RemoveAll(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  return error ? Failed("cannot remove", path, error) : absl::OkStatus();
}

absl::Status MakeFolder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  return error ? Failed("cannot make folder", path, error) : absl::OkStatus();
}

absl::Status WriteText(const fs::path& path, const std::string& text) {
  std::ofstream stream(path, std::ios::binary);
  stream << text;
  stream.close();
  return stream ? absl::OkStatus() : Failed("cannot write", path, {errno, std::generic_category()});
}

}  // namespace

std::optional<std::string> CaptureFileOf(std::string_view uri) {
  if (!IsAtOrBelow(uri, kServiceRoot)) return std::nullopt;
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
    : folder_(std::move(folder)),
      fresh_(folder_ + "/" + std::string(kFresh)),
      old_(folder_ + "/" + std::string(kOld)) {}

absl::Status CaptureWriter::Check(const std::string& folder) {
  const fs::path tree = fs::path(folder) / kTree;
  std::error_code error;
  if (!fs::exists(tree, error) || fs::exists(tree / "v1" / kIndexFile, error)) {
    return absl::OkStatus();
  }
  return runtime::FailedPrecondition(tree.string() + " is there and no capture");
}

absl::StatusOr<std::unique_ptr<CaptureWriter>> CaptureWriter::Create(const std::string& folder) {
  std::unique_ptr<CaptureWriter> writer(new CaptureWriter(folder));
  SHOAL_RETURN_IF_ERROR(Check(folder));
  SHOAL_RETURN_IF_ERROR(writer->Restore());
  SHOAL_RETURN_IF_ERROR(RemoveAll(writer->fresh_));
  SHOAL_RETURN_IF_ERROR(MakeFolder(writer->fresh_));
  return writer;
}

absl::Status CaptureWriter::Restore() const {
  const fs::path folder(folder_);
  const fs::path old(old_);
  std::error_code error;
  if (!fs::exists(folder / kManifestFile, error)) {
    if (fs::exists(old / kTree, error)) SHOAL_RETURN_IF_ERROR(RemoveAll(folder / kTree));
    SHOAL_RETURN_IF_ERROR(Move(old / kTree, folder / kTree));
    SHOAL_RETURN_IF_ERROR(Move(old / kManifestFile, folder / kManifestFile));
  }
  return RemoveAll(old);
}

absl::Status CaptureWriter::Add(const std::string& uri, const nlohmann::json& body) {
  const std::optional<std::string> file = CaptureFileOf(uri);
  if (!file) return runtime::InvalidArgument(uri + " cannot be the path of a file");
  const std::string text = CaptureText(body);
  const fs::path path = fs::path(fresh_) / *file;
  SHOAL_RETURN_IF_ERROR(MakeFolder(path.parent_path()));
  SHOAL_RETURN_IF_ERROR(WriteText(path, text));
  checksums_[uri] = content::Sha256Hex(text);
  return absl::OkStatus();
}

absl::Status CaptureWriter::Commit(Manifest manifest) {
  if (!checksums_.contains(std::string(kServiceRoot))) {
    return runtime::DataLoss("no service root for a capture in " + folder_);
  }
  for (const auto& [uri, checksum] : checksums_) manifest.resources[uri].sha256 = checksum;
  const fs::path folder(folder_);
  const fs::path fresh(fresh_);
  const fs::path old(old_);
  SHOAL_RETURN_IF_ERROR(WriteText(fresh / kManifestFile, manifest.ToJson()));
  SHOAL_RETURN_IF_ERROR(MakeFolder(old));
  SHOAL_RETURN_IF_ERROR(SyncFileSystem(fresh_));
  // The manifest is moved away first and into place last: while it is missing, Restore knows that
  // the Commit is unfinished.
  SHOAL_RETURN_IF_ERROR(Move(folder / kManifestFile, old / kManifestFile));
  SHOAL_RETURN_IF_ERROR(Move(folder / kTree, old / kTree));
  SHOAL_RETURN_IF_ERROR(Move(fresh / kTree, folder / kTree));
  SHOAL_RETURN_IF_ERROR(Move(fresh / kManifestFile, folder / kManifestFile));
  SHOAL_RETURN_IF_ERROR(SyncFileSystem(folder_));
  SHOAL_RETURN_IF_ERROR(RemoveAll(old));
  return RemoveAll(fresh);
}

absl::StatusOr<std::string> PackCapture(const ImportedCapture& imported, const std::string& name,
                                        std::string_view licence, const PackObserver& observer) {
  if (name.empty() || name.starts_with('.') || name.find('/') != std::string::npos) {
    return runtime::InvalidArgument("\"" + name + "\" is no name of a capture");
  }
  if (licence.empty()) return runtime::InvalidArgument("the licence is empty");
  Manifest manifest = imported.manifest;
  std::vector<ArchiveFile> files;
  for (const auto& [uri, body] : imported.capture->resources()) {
    const std::optional<std::string> file = CaptureFileOf(uri);
    if (!file) return runtime::InvalidArgument(uri + " cannot be the path of a file");
    std::string text = CaptureText(body);
    manifest.resources[uri].sha256 = content::Sha256Hex(text);
    files.push_back({name + "/" + *file, std::move(text)});
  }
  files.push_back({name + "/" + std::string(kManifestFile), manifest.ToJson()});
  files.push_back({name + "/LICENSE", std::string(licence)});
  return PackArchive(std::move(files), observer);
}

}  // namespace shoal::redfish
