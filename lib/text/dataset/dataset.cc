// SPDX-License-Identifier: Apache-2.0
#include "text/dataset/dataset.h"

#include <filesystem>
#include <utility>

#include "platform/runtime/atomic_file.h"
#include "text/bpe/tokenizer_json.h"
#include "text/dataset/dataset_files.h"

namespace shoal::dataset {
namespace {

constexpr std::size_t kMaximumManifest = std::size_t{1} << 24;
constexpr const char* kRecorder = "manifest";

absl::Status RequireCounts(const PackedChunks& chunks, const Manifest& manifest) {
  std::uint64_t spans = 0;
  for (const std::int64_t count : manifest.spans) spans += static_cast<std::uint64_t>(count);
  if (chunks.size() == static_cast<std::uint64_t>(manifest.chunks) &&
      chunks.token_count() == static_cast<std::uint64_t>(manifest.tokens) &&
      chunks.span_count() == spans) {
    return absl::OkStatus();
  }
  return runtime::DataLoss("byte 8: the counts are not those of the manifest");
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Dataset>> Dataset::Open(const std::string& folder) {
  const std::string manifest_path = DatasetPath(folder, kManifestFile);
  SHOAL_ASSIGN_OR_RETURN(const std::string text,
                         runtime::ReadFile(manifest_path, kMaximumManifest));
  auto manifest = Manifest::Parse(text);
  if (!manifest.ok()) return runtime::Annotate(manifest.status(), manifest_path);

  const std::string tokenizer_path = DatasetPath(folder, kTokenizerFile);
  std::error_code error;
  const std::uintmax_t tokenizer_bytes = std::filesystem::file_size(tokenizer_path, error);
  if (error) return runtime::NotFound("cannot open " + tokenizer_path + ": " + error.message());
  SHOAL_RETURN_IF_ERROR(RequireSize(tokenizer_path, tokenizer_bytes,
                                    manifest->files.find(kTokenizerFile)->second, kRecorder));

  const std::string path = DatasetPath(folder, kChunksFile);
  SHOAL_ASSIGN_OR_RETURN(runtime::MappedFile file, runtime::MappedFile::Open(path));
  SHOAL_RETURN_IF_ERROR(
      RequireSize(path, file.bytes().size(), manifest->files.find(kChunksFile)->second, kRecorder));
  auto chunks = PackedChunks::Parse(
      file.bytes(), {.chunk_tokens = static_cast<std::uint64_t>(manifest->chunk_tokens),
                     .vocabulary_size = manifest->vocabulary_size,
                     .captures = static_cast<std::uint32_t>(manifest->captures.size())});
  if (!chunks.ok()) return runtime::Annotate(chunks.status(), path);
  const absl::Status counted = RequireCounts(*chunks, *manifest);
  if (!counted.ok()) return runtime::Annotate(counted, path);
  return std::shared_ptr<const Dataset>(
      new Dataset(folder, *std::move(manifest), std::move(file), *chunks));
}

absl::Status Dataset::Verify() const {
  SHOAL_RETURN_IF_ERROR(RequireDigest(DatasetPath(folder_, kChunksFile), file_.bytes(),
                                      manifest_.files.find(kChunksFile)->second, kRecorder));
  const std::string path = DatasetPath(folder_, kTokenizerFile);
  SHOAL_ASSIGN_OR_RETURN(const std::string bytes,
                         runtime::ReadFile(path, tokens::kMaximumTokenizerFile));
  SHOAL_RETURN_IF_ERROR(
      RequireDigest(path, bytes, manifest_.files.find(kTokenizerFile)->second, kRecorder));
  SHOAL_ASSIGN_OR_RETURN(const auto tokenizer, tokens::LoadTokenizer(path));
  if (tokenizer->fingerprint() == manifest_.tokenizer_fingerprint &&
      tokenizer->size() == manifest_.vocabulary_size) {
    return absl::OkStatus();
  }
  return runtime::DataLoss(path + " is the tokenizer " + tokenizer->fingerprint() + " of " +
                           std::to_string(tokenizer->size()) + " tokens, its manifest says " +
                           manifest_.tokenizer_fingerprint + " of " +
                           std::to_string(manifest_.vocabulary_size));
}

}  // namespace shoal::dataset
