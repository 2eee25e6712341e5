// SPDX-License-Identifier: Apache-2.0
#include "text/dataset/pack.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <utility>
#include <vector>

#include "platform/runtime/atomic_file.h"
#include "text/dataset/dataset_files.h"
#include "text/dataset/mirror_index.h"

namespace shoal::dataset {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 3> kFiles = {kChunksFile, kTokenizerFile, kManifestFile};

// The bytes by name of exactly a dataset's files in one folder.
using FilesByName = std::map<std::string_view, const std::string*>;

absl::StatusOr<FilesByName> FilesOf(const redfish::Archive& tree, const std::string& path) {
  FilesByName files;
  std::string_view folder;
  for (const redfish::ArchiveFile& file : tree.files) {
    const std::string_view name = redfish::FileName(file.path);
    const std::string_view in =
        std::string_view(file.path).substr(0, file.path.size() - name.size());
    const auto known = std::find(kFiles.begin(), kFiles.end(), name);
    if (files.empty()) folder = in;
    if (known == kFiles.end() || in != folder || !files.emplace(*known, &file.bytes).second) {
      return runtime::DataLoss("archive " + path + ": \"" + file.path +
                               "\" is no part of one dataset");
    }
  }
  for (const std::string_view name : kFiles) {
    if (!files.contains(name)) {
      return runtime::DataLoss("archive " + path + " has no file " + std::string(name));
    }
  }
  return files;
}

absl::StatusOr<Manifest> WriteAndVerify(const FilesByName& files, const std::string& folder) {
  for (const std::string_view name : kFiles) {
    SHOAL_RETURN_IF_ERROR(runtime::WriteFileAtomically(DatasetPath(folder, name), *files.at(name)));
  }
  SHOAL_ASSIGN_OR_RETURN(const auto dataset, Dataset::Open(folder));
  SHOAL_RETURN_IF_ERROR(dataset->Verify());
  return dataset->manifest();
}

absl::Status MoveInto(const std::string& from, const std::string& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (!error) return absl::OkStatus();
  return runtime::Internal("cannot rename " + from + " to " + to + ": " + error.message());
}

}  // namespace

absl::StatusOr<std::string> PackDataset(const Dataset& dataset, const std::string& name,
                                        const redfish::PackObserver& observer) {
  if (!IsArchiveName(name)) {
    return runtime::InvalidArgument("\"" + name + "\" is no name of an archive");
  }
  SHOAL_RETURN_IF_ERROR(dataset.Verify());
  std::size_t left = redfish::kMaximumUnpackedBytes;
  std::vector<redfish::ArchiveFile> files;
  for (const std::string_view file : kFiles) {
    SHOAL_ASSIGN_OR_RETURN(std::string bytes,
                           runtime::ReadFile(DatasetPath(dataset.folder(), file), left));
    left -= bytes.size();
    files.push_back({name + "/" + std::string(file), std::move(bytes)});
  }
  return redfish::PackArchive(std::move(files), observer);
}

absl::StatusOr<Manifest> UnpackDataset(const UnpackOptions& options) {
  const std::string folder = WithoutTrailingSlashes(options.folder);
  SHOAL_RETURN_IF_ERROR(RequireFreeFolder(folder));
  std::error_code error;
  if (fs::is_directory(options.archive, error)) {
    return runtime::InvalidArgument(options.archive + " is a folder, not an archive");
  }
  SHOAL_ASSIGN_OR_RETURN(const redfish::Archive tree,
                         redfish::ReadArchive(options.archive, "", options.max_bytes));
  SHOAL_ASSIGN_OR_RETURN(const FilesByName files, FilesOf(tree, options.archive));
  const std::string unpacked = folder + ".tmp-" + std::to_string(::getpid());
  absl::StatusOr<Manifest> manifest = WriteAndVerify(files, unpacked);
  absl::Status moved = manifest.ok() ? MoveInto(unpacked, folder)
                                     : runtime::Annotate(manifest.status(), options.archive);
  if (moved.ok()) return manifest;
  fs::remove_all(unpacked, error);
  return moved;
}

}  // namespace shoal::dataset
