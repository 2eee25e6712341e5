// SPDX-License-Identifier: Apache-2.0
// A dataset on disk: chunks of tokens with their spans, mapped into memory.
//
//   SHOAL_ASSIGN_OR_RETURN(const auto data, dataset::Dataset::Open("datasets/servers"));
//   for (std::size_t chunk = 0; chunk < data->size(); ++chunk) Train(data->tokens(chunk));
//
// A dataset is a folder with manifest.json (manifest.h), chunks.bin (packed_chunks.h) and
// tokenizer.json, the tokenizer that made the tokens. Read-only, thread-safe; processes that open
// the same dataset share the mapped memory. Returned views live as long as the Dataset. The files
// must not change while it is open; rebuilding the dataset replaces them and leaves an open one
// unchanged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "platform/runtime/mapped_file.h"
#include "platform/runtime/status.h"
#include "text/dataset/manifest.h"
#include "text/dataset/packed_chunks.h"
#include "text/dataset/span.h"

namespace shoal::dataset {

class Dataset {
 public:
  // Checks the manifest, the files' sizes, and, in one pass, that each token is in the vocabulary
  // and each span within its chunk. Returns NOT_FOUND, or DATA_LOSS naming the file and the byte or
  // member that is wrong.
  static absl::StatusOr<std::shared_ptr<const Dataset>> Open(const std::string& folder);

  // Also checks that each file matches the manifest's digest, and the tokenizer its fingerprint.
  // Returns DATA_LOSS naming the file.
  absl::Status Verify() const;

  // The number of chunks.
  std::size_t size() const { return chunks_.size(); }
  // The next three functions REQUIRE: chunk < size(). A chunk has at least one token and at most
  // manifest().chunk_tokens.
  std::span<const std::int32_t> tokens(std::size_t chunk) const { return chunks_.tokens(chunk); }
  std::span<const Span> spans(std::size_t chunk) const { return chunks_.spans(chunk); }
  // The name of the capture that the chunk is from.
  const std::string& capture(std::size_t chunk) const {
    return manifest_.captures[chunks_.capture(chunk)].name;
  }

  const Manifest& manifest() const { return manifest_; }
  const std::string& folder() const { return folder_; }

 private:
  Dataset(std::string folder, Manifest manifest, runtime::MappedFile file, PackedChunks chunks)
      : folder_(std::move(folder)),
        manifest_(std::move(manifest)),
        file_(std::move(file)),
        chunks_(chunks) {}

  const std::string folder_;
  const Manifest manifest_;
  const runtime::MappedFile file_;
  // A view into file_.
  const PackedChunks chunks_;
};

}  // namespace shoal::dataset
