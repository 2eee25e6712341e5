// SPDX-License-Identifier: Apache-2.0
// Fuzzes the reader of the two files of a dataset. They must neither crash it nor make it read
// outside the file. The reader must refuse them and name the wrong place, or write them again
// unchanged.
//
// Input: a manifest if it begins with '{', and otherwise chunks.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "text/dataset/manifest.h"
#include "text/dataset/packed_chunks.h"

namespace shoal::dataset {
namespace {

constexpr PackedChunks::Limits kLimits{.chunk_tokens = 8, .vocabulary_size = 300, .captures = 3};

void Require(bool condition) {
  if (!condition) std::abort();
}

void RunManifest(std::string_view text) {
  const auto manifest = Manifest::Parse(text);
  if (!manifest.ok()) {
    Require(absl::IsDataLoss(manifest.status()) && !manifest.status().message().empty());
    return;
  }
  const std::string written = manifest->ToJson();
  const auto again = Manifest::Parse(written);
  Require(again.ok() && again->ToJson() == written);
}

void RunChunks(std::string_view bytes) {
  std::vector<std::uint64_t> words(bytes.size() / 8 + 1);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  const std::string_view aligned(reinterpret_cast<const char*>(words.data()), bytes.size());
  const auto view = PackedChunks::Parse(aligned, kLimits);
  if (!view.ok()) {
    Require(absl::IsDataLoss(view.status()));
    Require(std::string(view.status().message()).starts_with("byte "));
    return;
  }
  std::vector<Chunk> chunks;
  for (std::size_t i = 0; i < view->size(); ++i) {
    const auto tokens = view->tokens(i);
    const auto spans = view->spans(i);
    Require(!tokens.empty() && tokens.size() <= kLimits.chunk_tokens);
    for (const std::int32_t token : tokens) Require(token >= 0 && token < kLimits.vocabulary_size);
    for (const Span& span : spans) {
      Require(span.begin < span.end && span.end <= tokens.size());
      Require(std::strlen(NameOf(span.kind)) > 0);
    }
    Require(view->capture(i) < kLimits.captures);
    chunks.push_back(
        {{tokens.begin(), tokens.end()}, {spans.begin(), spans.end()}, view->capture(i)});
  }
  Require(PackChunks(chunks) == aligned);
}

}  // namespace
}  // namespace shoal::dataset

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  input.starts_with('{') ? shoal::dataset::RunManifest(input) : shoal::dataset::RunChunks(input);
  return 0;
}
