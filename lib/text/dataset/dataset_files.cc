// SPDX-License-Identifier: Apache-2.0
#include "text/dataset/dataset_files.h"

#include <filesystem>
#include <utility>

#include "platform/content/content_key.h"
#include "platform/runtime/atomic_file.h"

namespace shoal::dataset {

std::string DatasetPath(const std::string& folder, std::string_view file) {
  return (std::filesystem::path(folder) / file).string();
}

std::string WithoutTrailingSlashes(std::string folder) {
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  return folder;
}

absl::Status RequireFreeFolder(const std::string& folder) {
  std::error_code error;
  if (!std::filesystem::exists(folder, error) || std::filesystem::is_empty(folder, error)) {
    return absl::OkStatus();
  }
  return absl::AlreadyExistsError(folder + " is there already");
}

absl::Status RequireSize(const std::string& path, std::uint64_t bytes, const FileRecord& recorded,
                         const std::string& recorder) {
  if (bytes == recorded.bytes) return absl::OkStatus();
  return runtime::DataLoss(path + " has " + std::to_string(bytes) + " bytes, its " + recorder +
                           " says " + std::to_string(recorded.bytes));
}

absl::Status RequireDigest(const std::string& path, std::string_view bytes,
                           const FileRecord& recorded, const std::string& recorder) {
  SHOAL_RETURN_IF_ERROR(RequireSize(path, bytes.size(), recorded, recorder));
  const std::string digest = content::Sha256Hex(bytes);
  if (digest == recorded.sha256) return absl::OkStatus();
  return runtime::DataLoss(path + " has the SHA-256 " + digest + ", its " + recorder + " says " +
                           recorded.sha256);
}

absl::Status WriteDataset(Manifest& manifest, std::string_view chunks, std::string_view tokenizer,
                          const std::string& folder) {
  const std::string manifest_path = DatasetPath(folder, kManifestFile);
  std::error_code error;
  std::filesystem::remove(manifest_path, error);
  if (error) {
    return runtime::Internal("cannot remove " + manifest_path + ": " + error.message());
  }
  manifest.files.clear();
  for (const auto& [name, bytes] :
       {std::pair(kChunksFile, chunks), std::pair(kTokenizerFile, tokenizer)}) {
    manifest.files.emplace(name,
                           FileRecord{.bytes = bytes.size(), .sha256 = content::Sha256Hex(bytes)});
    SHOAL_RETURN_IF_ERROR(runtime::WriteFileAtomically(DatasetPath(folder, name), bytes));
  }
  return runtime::WriteFileAtomically(manifest_path, manifest.ToJson());
}

}  // namespace shoal::dataset
