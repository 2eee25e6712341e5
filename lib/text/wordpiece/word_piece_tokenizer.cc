// SPDX-License-Identifier: Apache-2.0
#include "text/wordpiece/word_piece_tokenizer.h"

#include <algorithm>
#include <utility>

#include "platform/content/content_key.h"
#include "platform/runtime/check.h"
#include "text/bpe/code_points.h"
#include "text/wordpiece/bert_characters.h"

namespace shoal::tokens {
namespace {

std::string Described(const std::string& token) { return "token \"" + token.substr(0, 100) + "\""; }

absl::Status CheckAddedToken(const AddedToken& token, const std::vector<std::string>& vocabulary) {
  if (token.content.empty()) return runtime::InvalidArgument("an added token is empty");
  if (token.normalized) {
    return runtime::InvalidArgument("added " + Described(token.content) +
                                    " is normalized, which is not supported");
  }
  const auto id = static_cast<std::size_t>(token.id);
  if (token.id < 0 || id >= vocabulary.size() || vocabulary[id] != token.content) {
    return runtime::InvalidArgument("added " + Described(token.content) + " has id " +
                                    std::to_string(token.id) +
                                    ", which is not its id in the vocabulary");
  }
  return absl::OkStatus();
}

std::string FingerprintOf(const WordPieceTokenizer::Parts& parts) {
  std::string bytes;
  const auto add_number = [&bytes](std::int64_t number) { bytes += std::to_string(number) + ' '; };
  const auto add_text = [&](const std::string& text) {
    add_number(static_cast<std::int64_t>(text.size()));
    bytes += text;
  };
  for (const std::string& token : parts.vocabulary) add_text(token);
  add_text(parts.unknown);
  add_text(parts.prefix);
  add_number(parts.max_word_characters);
  for (const AddedToken& token : parts.added_tokens) {
    add_text(token.content);
    for (const bool flag : {token.single_word, token.lstrip, token.rstrip}) add_number(flag);
  }
  const BertNormalizer& steps = parts.normalizer;
  for (const bool flag :
       {steps.clean_text, steps.handle_chinese_characters, steps.strip_accents, steps.lowercase}) {
    add_number(flag);
  }
  return content::Sha256Hex(bytes);
}

}  // namespace

WordPieceTokenizer::WordPieceTokenizer(Parts parts) : parts_(std::move(parts)) {}

absl::StatusOr<std::shared_ptr<const WordPieceTokenizer>> WordPieceTokenizer::Create(Parts parts) {
  std::shared_ptr<WordPieceTokenizer> made(new WordPieceTokenizer(std::move(parts)));
  SHOAL_RETURN_IF_ERROR(made->Index());
  made->fingerprint_ = FingerprintOf(made->parts_);
  return made;
}

absl::Status WordPieceTokenizer::Index() {
  for (std::size_t id = 0; id < parts_.vocabulary.size(); ++id) {
    const std::string_view token = parts_.vocabulary[id];
    if (token.empty()) continue;
    if (!starts_.emplace(token, static_cast<std::int32_t>(id)).second) {
      return runtime::InvalidArgument(Described(parts_.vocabulary[id]) + " stands twice");
    }
    longest_ = std::max(longest_, token.size());
    if (token.starts_with(parts_.prefix)) {
      continuations_.emplace(token.substr(parts_.prefix.size()), static_cast<std::int32_t>(id));
    }
  }
  for (const auto& [token, id] : {std::pair<std::string, std::int32_t*>{parts_.unknown, &unknown_},
                                  {std::string(kBeginToken), &begin_},
                                  {std::string(kEndToken), &end_}}) {
    const auto found = IdOf(token);
    if (!found.has_value()) return runtime::InvalidArgument(Described(token) + " is missing");
    *id = *found;
  }
  std::vector<std::string> contents;
  for (const AddedToken& token : parts_.added_tokens) {
    SHOAL_RETURN_IF_ERROR(CheckAddedToken(token, parts_.vocabulary));
    contents.push_back(token.content);
  }
  finder_.emplace(parts_.added_tokens, contents);
  return absl::OkStatus();
}

std::optional<std::int32_t> WordPieceTokenizer::IdOf(std::string_view token) const {
  const auto found = starts_.find(token);
  return found == starts_.end() ? std::nullopt : std::optional(found->second);
}

void WordPieceTokenizer::AppendWord(std::string_view word, std::vector<std::int32_t>& ids) const {
  // The number of bytes before the end of each character.
  std::vector<std::size_t> ends;
  for (std::size_t at = 0; at < word.size();) {
    at += ReadCodePoint(word, at).bytes;
    ends.push_back(at);
  }
  const std::size_t before = ids.size();
  const bool fits = static_cast<std::int64_t>(ends.size()) <= parts_.max_word_characters;
  std::size_t begin = 0;
  for (std::size_t last = ends.size(); fits && last > 0 && begin < word.size();) {
    const auto& tokens = begin == 0 ? starts_ : continuations_;
    const std::size_t end = ends[last - 1];
    if (end == begin) break;
    const auto found =
        end - begin > longest_ ? tokens.end() : tokens.find(word.substr(begin, end - begin));
    if (found == tokens.end()) {
      --last;
      continue;
    }
    ids.push_back(found->second);
    begin = end;
    last = ends.size();
  }
  if (begin == word.size()) return;
  ids.resize(before);
  ids.push_back(unknown_);
}

void WordPieceTokenizer::AppendText(std::string_view text, std::size_t limit,
                                    std::vector<std::int32_t>& ids) const {
  const std::string normalized = parts_.normalizer.Apply(text);
  const std::string_view view = normalized;
  std::size_t begin = 0;
  const auto end_word = [&](std::size_t end) {
    if (end > begin) AppendWord(view.substr(begin, end - begin), ids);
  };
  for (std::size_t at = 0; at < view.size() && ids.size() < limit;) {
    const CodePoint read = ReadCodePoint(view, at);
    const std::uint8_t classes = BertClassesOf(read.value);
    const std::size_t next = at + read.bytes;
    if ((classes & (kBertSpace | kBertPunctuation)) != 0) {
      end_word(at);
      begin = (classes & kBertSpace) != 0 ? next : at;
      if ((classes & kBertSpace) == 0) end_word(next);
      begin = next;
    }
    at = next;
    if (at == view.size()) end_word(at);
  }
}

std::vector<std::int32_t> WordPieceTokenizer::Encode(std::string_view text,
                                                     std::size_t max_ids) const {
  SHOAL_CHECK(max_ids >= 2);
  std::vector<std::int32_t> ids = {begin_};
  const std::size_t limit = max_ids - 1;
  std::vector<TextPiece> pieces;
  finder_->Split(text, pieces);
  for (const TextPiece& piece : pieces) {
    if (ids.size() >= limit) break;
    if (piece.token != TextPiece::kText) {
      ids.push_back(piece.token);
    } else {
      AppendText(text.substr(piece.range.begin, piece.range.end - piece.range.begin), limit, ids);
    }
  }
  ids.resize(std::min(ids.size(), limit));
  ids.push_back(end_);
  return ids;
}

}  // namespace shoal::tokens
