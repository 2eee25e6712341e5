// SPDX-License-Identifier: Apache-2.0
#include "text/dataset/manifest.h"

#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "platform/content/json_node.h"

namespace shoal::dataset {
namespace {

using Json = nlohmann::json;
using content::JsonNode;

constexpr const char* kFormat = "shoal-dataset/1";

Json CaptureJson(const SourceCapture& capture) {
  return {{"name", capture.name},         {"digest", capture.digest},
          {"licence", capture.licence},   {"resources", capture.resources},
          {"left_out", capture.left_out}, {"chunks", capture.chunks},
          {"repeated", capture.repeated}, {"tokens", capture.tokens}};
}

absl::StatusOr<SourceCapture> ReadCapture(const JsonNode& node) {
  SourceCapture capture;
  SHOAL_ASSIGN_OR_RETURN(capture.name, node.At("name").String());
  SHOAL_ASSIGN_OR_RETURN(capture.digest, node.At("digest").Sha256());
  SHOAL_ASSIGN_OR_RETURN(capture.licence, node.At("licence").String());
  SHOAL_ASSIGN_OR_RETURN(capture.resources, node.At("resources").Count());
  SHOAL_ASSIGN_OR_RETURN(capture.left_out, node.At("left_out").Count());
  SHOAL_ASSIGN_OR_RETURN(capture.chunks, node.At("chunks").Count());
  SHOAL_ASSIGN_OR_RETURN(capture.repeated, node.At("repeated").Count());
  SHOAL_ASSIGN_OR_RETURN(capture.tokens, node.At("tokens").Count());
  return capture;
}

absl::Status ReadCaptures(const JsonNode& root, Manifest& manifest) {
  SHOAL_ASSIGN_OR_RETURN(const JsonNode list, root.List("captures"));
  if (list.value->empty()) return list.Wrong("is empty");
  std::set<std::string> names;
  std::int64_t chunks = 0;
  std::int64_t tokens = 0;
  for (std::size_t i = 0; i < list.value->size(); ++i) {
    SHOAL_ASSIGN_OR_RETURN(SourceCapture capture, ReadCapture(list.At(i)));
    if (!names.insert(capture.name).second) return list.At(i).Wrong("has a name that is taken");
    if (capture.chunks > manifest.chunks - chunks || capture.tokens > manifest.tokens - tokens) {
      return list.At(i).Wrong("has more than all captures together");
    }
    chunks += capture.chunks;
    tokens += capture.tokens;
    manifest.captures.push_back(std::move(capture));
  }
  if (chunks == manifest.chunks && tokens == manifest.tokens) return absl::OkStatus();
  return list.Wrong("have together other counts than the dataset");
}

absl::Status ReadFiles(const JsonNode& root, Manifest& manifest) {
  const JsonNode files = root.At("files");
  for (const std::string_view name : {kChunksFile, kTokenizerFile}) {
    const JsonNode node = files.At(std::string(name));
    FileRecord file;
    SHOAL_ASSIGN_OR_RETURN(const std::int64_t bytes, node.At("bytes").Count());
    file.bytes = static_cast<std::uint64_t>(bytes);
    SHOAL_ASSIGN_OR_RETURN(file.sha256, node.At("sha256").Sha256());
    manifest.files.emplace(name, std::move(file));
  }
  if (files.value->size() == manifest.files.size()) return absl::OkStatus();
  return files.Wrong("has a file that is no part of a dataset");
}

absl::Status ReadOptions(const JsonNode& root, Manifest& manifest) {
  SHOAL_ASSIGN_OR_RETURN(manifest.chunk_tokens, root.At("chunk_tokens").Id());
  SHOAL_ASSIGN_OR_RETURN(manifest.overlap, root.At("overlap").Id());
  if (manifest.overlap >= manifest.chunk_tokens) {
    return root.At("overlap").Wrong("is not less than the tokens of a chunk");
  }
  SHOAL_ASSIGN_OR_RETURN(manifest.prompt, root.At("prompt").Bool());
  SHOAL_ASSIGN_OR_RETURN(manifest.distinct, root.At("distinct").Bool());
  SHOAL_ASSIGN_OR_RETURN(manifest.definitions, root.At("definitions").Bool());
  const JsonNode seed = root.At("seed");
  if (!seed.value->is_number_unsigned()) return seed.Wrong("is no integer of at least 0");
  manifest.seed = seed.value->get<std::uint64_t>();
  SHOAL_ASSIGN_OR_RETURN(manifest.canonicaliser, root.At("canonicaliser").String());
  SHOAL_ASSIGN_OR_RETURN(manifest.volatile_names, root.Strings("volatile"));
  const JsonNode tokenizer = root.At("tokenizer");
  SHOAL_ASSIGN_OR_RETURN(manifest.tokenizer_fingerprint, tokenizer.At("fingerprint").Sha256());
  SHOAL_ASSIGN_OR_RETURN(manifest.vocabulary_size, tokenizer.At("vocabulary_size").Id());
  return absl::OkStatus();
}

absl::Status ReadManifest(const JsonNode& root, Manifest& manifest) {
  SHOAL_ASSIGN_OR_RETURN(const std::string format, root.At("format").String());
  if (format != kFormat) {
    return root.At("format").Wrong(std::string("is not \"") + kFormat + "\"");
  }
  SHOAL_RETURN_IF_ERROR(ReadOptions(root, manifest));
  SHOAL_ASSIGN_OR_RETURN(manifest.chunks, root.At("chunks").Count());
  SHOAL_ASSIGN_OR_RETURN(manifest.tokens, root.At("tokens").Count());
  for (std::size_t kind = 0; kind < kSpanKinds; ++kind) {
    const JsonNode count = root.At("spans").At(NameOf(static_cast<SpanKind>(kind)));
    SHOAL_ASSIGN_OR_RETURN(manifest.spans[kind], count.Count());
  }
  SHOAL_RETURN_IF_ERROR(ReadCaptures(root, manifest));
  return ReadFiles(root, manifest);
}

}  // namespace

std::vector<std::string> Manifest::Licences() const {
  std::set<std::string> licences;
  for (const SourceCapture& capture : captures) {
    if (!capture.licence.empty()) licences.insert(capture.licence);
  }
  return {licences.begin(), licences.end()};
}

std::string Manifest::ToJson() const {
  Json all_spans = Json::object();
  for (std::size_t kind = 0; kind < kSpanKinds; ++kind) {
    all_spans[NameOf(static_cast<SpanKind>(kind))] = spans[kind];
  }
  Json all_captures = Json::array();
  for (const SourceCapture& capture : captures) all_captures.push_back(CaptureJson(capture));
  Json all_files = Json::object();
  for (const auto& [name, file] : files) {
    all_files[name] = {{"bytes", file.bytes}, {"sha256", file.sha256}};
  }
  const Json json = {
      {"format", kFormat},
      {"chunk_tokens", chunk_tokens},
      {"overlap", overlap},
      {"prompt", prompt},
      {"distinct", distinct},
      {"definitions", definitions},
      {"seed", seed},
      {"canonicaliser", canonicaliser},
      {"volatile", volatile_names},
      {"tokenizer", {{"fingerprint", tokenizer_fingerprint}, {"vocabulary_size", vocabulary_size}}},
      {"chunks", chunks},
      {"tokens", tokens},
      {"spans", std::move(all_spans)},
      {"captures", std::move(all_captures)},
      {"files", std::move(all_files)}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

absl::StatusOr<Manifest> Manifest::Parse(std::string_view text) {
  const auto document = content::ParseJsonDocument(text);
  if (!document.ok()) return runtime::DataLoss(runtime::Message(document.status()));
  Manifest manifest;
  const absl::Status read = ReadManifest({&*document, ""}, manifest);
  if (!read.ok()) return runtime::DataLoss(runtime::Message(read));
  return manifest;
}

}  // namespace shoal::dataset
