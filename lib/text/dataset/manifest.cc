// SPDX-License-Identifier: Apache-2.0
#include "text/dataset/manifest.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

namespace shoal::dataset {

absl::StatusOr<std::int64_t> ReadCount(const tokens::JsonNode& node) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (!node.value->is_number_unsigned() || node.value->get<std::uint64_t>() > kMost) {
    return node.Wrong("is no count");
  }
  return node.value->get<std::int64_t>();
}

absl::StatusOr<bool> ReadBool(const tokens::JsonNode& node) {
  if (!node.value->is_boolean()) return node.Wrong("is neither true nor false");
  return node.value->get<bool>();
}

absl::StatusOr<std::string> ReadSha256(const tokens::JsonNode& node) {
  const auto* const text = node.value->get_ptr<const std::string*>();
  if (text == nullptr || text->size() != 64 ||
      text->find_first_not_of("0123456789abcdef") != std::string::npos) {
    return node.Wrong("is no SHA-256 of 64 hexadecimal digits");
  }
  return *text;
}

absl::StatusOr<std::vector<std::string>> ReadStrings(const tokens::JsonNode& node,
                                                     const std::string& key) {
  SHOAL_ASSIGN_OR_RETURN(const tokens::JsonNode list, node.List(key));
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < list.value->size(); ++i) {
    SHOAL_ASSIGN_OR_RETURN(std::string text, list.At(i).String());
    texts.push_back(std::move(text));
  }
  return texts;
}

namespace {

using Json = nlohmann::json;
using tokens::JsonNode;

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
  SHOAL_ASSIGN_OR_RETURN(capture.digest, ReadSha256(node.At("digest")));
  SHOAL_ASSIGN_OR_RETURN(capture.licence, node.At("licence").String());
  SHOAL_ASSIGN_OR_RETURN(capture.resources, ReadCount(node.At("resources")));
  SHOAL_ASSIGN_OR_RETURN(capture.left_out, ReadCount(node.At("left_out")));
  SHOAL_ASSIGN_OR_RETURN(capture.chunks, ReadCount(node.At("chunks")));
  SHOAL_ASSIGN_OR_RETURN(capture.repeated, ReadCount(node.At("repeated")));
  SHOAL_ASSIGN_OR_RETURN(capture.tokens, ReadCount(node.At("tokens")));
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
    SHOAL_ASSIGN_OR_RETURN(const std::int64_t bytes, ReadCount(node.At("bytes")));
    file.bytes = static_cast<std::uint64_t>(bytes);
    SHOAL_ASSIGN_OR_RETURN(file.sha256, ReadSha256(node.At("sha256")));
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
  SHOAL_ASSIGN_OR_RETURN(manifest.prompt, ReadBool(root.At("prompt")));
  SHOAL_ASSIGN_OR_RETURN(manifest.distinct, ReadBool(root.At("distinct")));
  SHOAL_ASSIGN_OR_RETURN(manifest.definitions, ReadBool(root.At("definitions")));
  const JsonNode seed = root.At("seed");
  if (!seed.value->is_number_unsigned()) return seed.Wrong("is no integer of at least 0");
  manifest.seed = seed.value->get<std::uint64_t>();
  SHOAL_ASSIGN_OR_RETURN(manifest.canonicaliser, root.At("canonicaliser").String());
  SHOAL_ASSIGN_OR_RETURN(manifest.volatile_names, ReadStrings(root, "volatile"));
  const JsonNode tokenizer = root.At("tokenizer");
  SHOAL_ASSIGN_OR_RETURN(manifest.tokenizer_fingerprint, ReadSha256(tokenizer.At("fingerprint")));
  SHOAL_ASSIGN_OR_RETURN(manifest.vocabulary_size, tokenizer.At("vocabulary_size").Id());
  return absl::OkStatus();
}

absl::Status ReadManifest(const JsonNode& root, Manifest& manifest) {
  SHOAL_ASSIGN_OR_RETURN(const std::string format, root.At("format").String());
  if (format != kFormat) {
    return root.At("format").Wrong(std::string("is not \"") + kFormat + "\"");
  }
  SHOAL_RETURN_IF_ERROR(ReadOptions(root, manifest));
  SHOAL_ASSIGN_OR_RETURN(manifest.chunks, ReadCount(root.At("chunks")));
  SHOAL_ASSIGN_OR_RETURN(manifest.tokens, ReadCount(root.At("tokens")));
  for (std::size_t kind = 0; kind < kSpanKinds; ++kind) {
    const JsonNode count = root.At("spans").At(NameOf(static_cast<SpanKind>(kind)));
    SHOAL_ASSIGN_OR_RETURN(manifest.spans[kind], ReadCount(count));
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
  const auto document = tokens::ParseJsonDocument(text);
  if (!document.ok()) return runtime::DataLoss(runtime::Message(document.status()));
  Manifest manifest;
  const absl::Status read = ReadManifest({&*document, ""}, manifest);
  if (!read.ok()) return runtime::DataLoss(runtime::Message(read));
  return manifest;
}

}  // namespace shoal::dataset
