// SPDX-License-Identifier: Apache-2.0
#include "text/bpe/tokenizer_file.h"

#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

#include "platform/runtime/atomic_file.h"
#include "text/bpe/bpe_model_reader.h"
#include "text/bpe/tokenizer_json.h"

namespace shoal::tokens {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kPairs = {
    {{"encoder.json", "vocab.bpe"}, {"vocab.json", "merges.txt"}}};

bool Exists(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

absl::Status ReadVocabularyFile(const std::string& path, IdByText& ids,
                                std::vector<std::string>& texts) {
  SHOAL_ASSIGN_OR_RETURN(const std::string bytes, runtime::ReadFile(path, kMaximumTokenizerFile));
  const auto document = ParseJsonDocument(bytes);
  if (!document.ok()) return runtime::Annotate(document.status(), path);
  auto read = ReadVocabulary({&*document, ""}, texts);
  if (!read.ok()) return runtime::Annotate(read.status(), path);
  ids = *std::move(read);
  return absl::OkStatus();
}

absl::Status ReadMergesFile(const std::string& path, const IdByText& ids,
                            std::vector<MergeRule>& rules) {
  SHOAL_ASSIGN_OR_RETURN(const std::string bytes, runtime::ReadFile(path, kMaximumTokenizerFile));
  std::string_view rest = bytes;
  for (int number = 1; !rest.empty(); ++number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.starts_with("#version")) continue;
    const auto rule = ParseMerge(line, ids);
    if (!rule.ok()) {
      return runtime::InvalidArgument(path + ": line " + std::to_string(number) + " " +
                                      runtime::Message(rule.status()));
    }
    rules.push_back(*rule);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Tokenizer>> LoadTokenizer(const std::string& path) {
  std::error_code error;
  const std::filesystem::path folder(path);
  std::string file = path;
  if (std::filesystem::is_directory(folder, error)) {
    file = (folder / "tokenizer.json").string();
    for (const auto& [vocabulary, merges] : kPairs) {
      if (Exists(file)) break;
      if (!Exists(folder / vocabulary)) continue;
      return LoadGpt2Files((folder / vocabulary).string(), (folder / merges).string());
    }
  }
  SHOAL_ASSIGN_OR_RETURN(const std::string bytes, runtime::ReadFile(file, kMaximumTokenizerFile));
  return ParseTokenizerJson(bytes, file);
}

absl::StatusOr<std::shared_ptr<const Tokenizer>> LoadGpt2Files(const std::string& vocabulary_path,
                                                               const std::string& merges_path) {
  Tokenizer::Parts parts;
  IdByText ids;
  SHOAL_RETURN_IF_ERROR(ReadVocabularyFile(vocabulary_path, ids, parts.vocabulary));
  SHOAL_RETURN_IF_ERROR(ReadMergesFile(merges_path, ids, parts.merges));
  const auto end_of_text = ids.find(std::string(kEndOfText));
  if (end_of_text != ids.end()) {
    parts.added_tokens.push_back(
        {.id = end_of_text->second, .content = std::string(kEndOfText), .special = true});
  }
  auto tokenizer = Tokenizer::Create(std::move(parts));
  if (!tokenizer.ok()) return runtime::Annotate(tokenizer.status(), vocabulary_path);
  return tokenizer;
}

absl::Status SaveTokenizer(const Tokenizer& tokenizer, const std::string& path) {
  return runtime::WriteFileAtomically(path, TokenizerJson(tokenizer));
}

}  // namespace shoal::tokens
