// SPDX-License-Identifier: Apache-2.0
#include "text/dataset/build.h"

#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "platform/content/content_key.h"
#include "platform/runtime/random.h"
#include "redfish/capture/archive.h"
#include "redfish/capture/capture_import.h"
#include "redfish/schema/schema.h"
#include "text/bpe/tokenizer_json.h"
#include "text/dataset/chunker.h"
#include "text/dataset/dataset_files.h"
#include "text/dataset/packed_chunks.h"
#include "text/dataset/resource_text.h"

namespace shoal::dataset {
namespace {

constexpr std::string_view kLicenceFile = "LICENSE";

// Returns the first line that is not blank.
std::string FirstLine(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  text.remove_prefix(begin);
  text = text.substr(0, text.find_first_of("\r\n"));
  return std::string(text.substr(0, text.find_last_not_of(" \t") + 1));
}

class Builder {
 public:
  Builder(const BuildOptions& options, std::shared_ptr<const tokens::Tokenizer> tokenizer,
          std::shared_ptr<const redfish::Schema> schema, std::unique_ptr<Chunker> chunker)
      : options_(options),
        tokenizer_(std::move(tokenizer)),
        schema_(std::move(schema)),
        chunker_(std::move(chunker)) {}

  absl::Status AddCapture(const std::string& path, const BuildObserver& observer) {
    SHOAL_ASSIGN_OR_RETURN(const redfish::ImportedCapture imported,
                           redfish::ImportCapture(path, nullptr));
    const redfish::Capture& capture = *imported.capture;
    SourceCapture source{.name = capture.name(), .digest = capture.digest()};
    if (!names_.insert(source.name).second) {
      return runtime::InvalidArgument("two captures are called " + source.name + "; one is " +
                                      path);
    }
    SHOAL_ASSIGN_OR_RETURN(source.licence, LicenceOf(path, source.name));
    BuildProgress progress{.capture = source.name, .resources = capture.resources().size()};
    for (const auto& [uri, body] : capture.resources()) {
      const absl::Status added = AddResource(imported, uri, body, source);
      if (!added.ok()) return runtime::Annotate(added, path + " " + uri);
      ++progress.done;
      progress.chunks = chunks_.size();
      progress.tokens = manifest_.tokens;
      if (observer) observer(progress);
    }
    manifest_.captures.push_back(std::move(source));
    return absl::OkStatus();
  }

  absl::StatusOr<Manifest> Write() {
    for (const auto& [name, unused] : options_.licences) {
      if (!name.empty() && !names_.contains(name)) {
        return runtime::InvalidArgument("a licence is given for " + name +
                                        ", which is no capture of the dataset");
      }
    }
    if (chunks_.empty()) return runtime::InvalidArgument("the captures have no chunk");
    if (options_.seed != 0) Shuffle();
    FillManifest();
    SHOAL_RETURN_IF_ERROR(WriteDataset(manifest_, PackChunks(chunks_),
                                       tokens::TokenizerJson(*tokenizer_), options_.output));
    return std::move(manifest_);
  }

 private:
  absl::StatusOr<std::string> LicenceOf(const std::string& path, const std::string& name) const {
    for (const std::string& key : {name, std::string()}) {
      const auto given = options_.licences.find(key);
      if (given != options_.licences.end()) return given->second;
    }
    SHOAL_ASSIGN_OR_RETURN(const redfish::Archive tree, redfish::ReadArchive(path, kLicenceFile));
    const redfish::ArchiveFile* uppermost = nullptr;
    for (const redfish::ArchiveFile& file : tree.files) {
      if (redfish::FileName(file.path) != kLicenceFile) continue;
      if (uppermost == nullptr || file.path.size() < uppermost->path.size()) uppermost = &file;
    }
    return uppermost == nullptr ? std::string() : FirstLine(uppermost->bytes);
  }

  absl::Status AddResource(const redfish::ImportedCapture& imported, const std::string& uri,
                           const nlohmann::json& body, SourceCapture& source) {
    if (!options_.definitions && IsDefinition(uri, body)) {
      ++source.left_out;
      return absl::OkStatus();
    }
    ResourceText text{.body = content::CanonicalJson(body, options_.volatile_names)};
    if (options_.prompt) {
      const auto& recorded = imported.manifest.resources;
      const auto entry = recorded.find(uri);
      text.request = RequestLine(
          uri, MethodsOf(entry == recorded.end() ? nullptr : &entry->second, body, *schema_));
    }
    SHOAL_ASSIGN_OR_RETURN(std::vector<Chunk> chunks, chunker_->Cut(text));
    ++source.resources;
    for (Chunk& chunk : chunks) AddChunk(std::move(chunk), source);
    return absl::OkStatus();
  }

  void AddChunk(Chunk chunk, SourceCapture& source) {
    const std::string_view bytes(reinterpret_cast<const char*>(chunk.tokens.data()),
                                 chunk.tokens.size() * sizeof(chunk.tokens[0]));
    if (options_.distinct && !seen_.insert(content::KeyOf(bytes)).second) {
      ++source.repeated;
      return;
    }
    const auto tokens = static_cast<std::int64_t>(chunk.tokens.size());
    ++source.chunks;
    source.tokens += tokens;
    manifest_.tokens += tokens;
    for (const Span& span : chunk.spans) ++manifest_.spans[static_cast<std::size_t>(span.kind)];
    chunk.capture = static_cast<std::uint32_t>(manifest_.captures.size());
    chunks_.push_back(std::move(chunk));
  }

  void Shuffle() {
    runtime::Random random(runtime::DeriveSeed(options_.seed, "dataset order"));
    runtime::Shuffle(std::span(chunks_), random);
  }

  void FillManifest() {
    manifest_.chunk_tokens = options_.chunk_tokens;
    manifest_.overlap = options_.overlap;
    manifest_.prompt = options_.prompt;
    manifest_.distinct = options_.distinct;
    manifest_.definitions = options_.definitions;
    manifest_.seed = options_.seed;
    manifest_.canonicaliser = content::kCanonicaliserVersion;
    manifest_.volatile_names.assign(options_.volatile_names.begin(), options_.volatile_names.end());
    std::sort(manifest_.volatile_names.begin(), manifest_.volatile_names.end());
    manifest_.tokenizer_fingerprint = tokenizer_->fingerprint();
    manifest_.vocabulary_size = tokenizer_->size();
    manifest_.chunks = static_cast<std::int64_t>(chunks_.size());
  }

  const BuildOptions& options_;
  const std::shared_ptr<const tokens::Tokenizer> tokenizer_;
  const std::shared_ptr<const redfish::Schema> schema_;
  const std::unique_ptr<Chunker> chunker_;
  Manifest manifest_;
  std::vector<Chunk> chunks_;
  std::set<std::string> names_;
  absl::flat_hash_set<content::ContentKey, content::ContentKeyHash> seen_;
};

}  // namespace

absl::StatusOr<Manifest> BuildDataset(const BuildOptions& options, const BuildObserver& observer) {
  if (options.captures.empty()) {
    return runtime::InvalidArgument("a dataset needs at least one capture");
  }
  SHOAL_ASSIGN_OR_RETURN(auto tokenizer, tokens::LoadTokenizer(options.tokenizer));
  SHOAL_ASSIGN_OR_RETURN(auto schema, redfish::Schema::Load(options.schema));
  SHOAL_ASSIGN_OR_RETURN(auto chunker,
                         Chunker::Create(tokenizer, {.chunk_tokens = options.chunk_tokens,
                                                     .overlap = options.overlap}));
  Builder builder(options, std::move(tokenizer), std::move(schema), std::move(chunker));
  for (const std::string& path : options.captures) {
    SHOAL_RETURN_IF_ERROR(builder.AddCapture(path, observer));
  }
  return builder.Write();
}

}  // namespace shoal::dataset
