// SPDX-License-Identifier: Apache-2.0
#include "text/bpe/tokenizer.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <utility>

#include "platform/content/content_key.h"
#include "text/bpe/code_points.h"
#include "text/bpe/token_encoder.h"
#include "text/bpe/tokenizer_json.h"

namespace shoal::tokens {
namespace {

// Assigns the ids of added tokens: the id in the vocabulary, or the next one after all tokens. Like
// Hugging Face, it counts tokens and does not use the highest id.
class AddedIds {
 public:
  explicit AddedIds(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {
    for (std::int32_t id = 0; id < vocabulary.size(); ++id) {
      if (!vocabulary.Text(id).empty()) ++next_;
    }
  }

  // Returns nullopt for a content that was passed before.
  std::optional<std::int32_t> Next(const std::string& content) {
    const std::int32_t id = vocabulary_.IdOfText(content).value_or(next_);
    if (!known_.try_emplace(content, id).second) return std::nullopt;
    next_ = std::max(next_, id + 1);
    return id;
  }

  bool IsTaken(std::int32_t id, const std::string& content) const {
    return id < vocabulary_.size() && !vocabulary_.Text(id).empty() &&
           vocabulary_.Text(id) != content;
  }

 private:
  const Vocabulary& vocabulary_;
  std::int32_t next_ = 0;
  absl::flat_hash_map<std::string, std::int32_t> known_;
};

absl::Status CheckAdded(const std::vector<AddedToken>& added, const Vocabulary& vocabulary) {
  AddedIds ids(vocabulary);
  for (const AddedToken& token : added) {
    const std::string name = "added token \"" + token.content + "\"";
    if (token.content.empty()) return runtime::InvalidArgument("an added token is empty");
    if (!IsWellFormed(token.content)) return runtime::InvalidArgument(name + " is no UTF-8");
    const auto id = ids.Next(token.content);
    if (!id.has_value()) return runtime::InvalidArgument(name + " stands twice");
    if (*id != token.id || ids.IsTaken(*id, token.content)) {
      return runtime::InvalidArgument(name + " has id " + std::to_string(token.id) +
                                      ", but the vocabulary leaves it " + std::to_string(*id));
    }
  }
  return absl::OkStatus();
}

}  // namespace

Tokenizer::Tokenizer(Vocabulary vocabulary, Parts parts)
    : vocabulary_(std::move(vocabulary)),
      merges_(std::move(parts.merges)),
      ignore_merges_(parts.ignore_merges),
      normalizer_(std::move(parts.normalizer)),
      pre_tokenizer_(std::move(parts.pre_tokenizer)),
      added_tokens_(std::move(parts.added_tokens)),
      size_(vocabulary_.size()) {
  for (const AddedToken& token : added_tokens_) size_ = std::max(size_, token.id + 1);
}

absl::StatusOr<std::shared_ptr<const Tokenizer>> Tokenizer::Create(Parts parts) {
  SHOAL_ASSIGN_OR_RETURN(Vocabulary vocabulary, Vocabulary::Create(std::move(parts.vocabulary)));
  for (const MergeRule& rule : parts.merges) {
    for (const std::int32_t id : {rule.left, rule.right, rule.merged}) {
      if (id < 0 || id >= vocabulary.size()) {
        return runtime::InvalidArgument("a merge names id " + std::to_string(id) +
                                        ", which is no token");
      }
    }
  }
  SHOAL_RETURN_IF_ERROR(CheckAdded(parts.added_tokens, vocabulary));
  std::sort(parts.added_tokens.begin(), parts.added_tokens.end(),
            [](const AddedToken& a, const AddedToken& b) { return a.id < b.id; });
  std::shared_ptr<Tokenizer> made(new Tokenizer(std::move(vocabulary), std::move(parts)));
  SHOAL_RETURN_IF_ERROR(made->MakeFinders());
  made->fingerprint_ = content::Sha256Hex(TokenizerJson(*made));
  return made;
}

absl::StatusOr<std::shared_ptr<const Tokenizer>> Tokenizer::Extend(
    std::vector<AddedToken> added) const {
  Parts parts;
  for (std::int32_t id = 0; id < vocabulary_.size(); ++id) {
    parts.vocabulary.push_back(vocabulary_.Text(id));
  }
  parts.merges = merges_.rules();
  parts.ignore_merges = ignore_merges_;
  parts.normalizer = normalizer_;
  parts.pre_tokenizer = pre_tokenizer_;
  parts.added_tokens = added_tokens_;
  AddedIds ids(vocabulary_);
  for (const AddedToken& token : added_tokens_) ids.Next(token.content);
  for (AddedToken& token : added) {
    if (vocabulary_.IdOfText(token.content).has_value()) continue;
    const auto id = ids.Next(token.content);
    if (!id.has_value()) continue;
    token.id = *id;
    parts.added_tokens.push_back(std::move(token));
  }
  return Create(std::move(parts));
}

absl::Status Tokenizer::MakeFinders() {
  // Hugging Face matches special tokens first, which matters when two tokens have the same
  // normalised form.
  std::vector<AddedToken> ordered = added_tokens_;
  std::stable_partition(ordered.begin(), ordered.end(),
                        [](const AddedToken& token) { return token.special; });
  std::vector<std::string> raw;
  std::vector<std::string> normalized;
  Pattern::Scratch patterns;
  Normalizer::Scratch scratch;
  for (const AddedToken& token : ordered) {
    raw.push_back(token.normalized ? "" : token.content);
    std::string& form = normalized.emplace_back();
    if (!token.normalized) continue;
    SHOAL_RETURN_IF_ERROR(normalizer_.Apply(token.content, patterns, scratch, form));
  }
  raw_finder_.emplace(ordered, raw);
  normalized_finder_.emplace(std::move(ordered), normalized);
  return absl::OkStatus();
}

const AddedToken* Tokenizer::AddedWithId(std::int32_t id) const {
  const auto found = std::lower_bound(
      added_tokens_.begin(), added_tokens_.end(), id,
      [](const AddedToken& token, std::int32_t value) { return token.id < value; });
  return found != added_tokens_.end() && found->id == id ? &*found : nullptr;
}

std::string_view Tokenizer::TokenText(std::int32_t id) const {
  if (id < 0 || id >= size_) return {};
  if (id < vocabulary_.size() && !vocabulary_.Text(id).empty()) return vocabulary_.Text(id);
  const AddedToken* added = AddedWithId(id);
  return added == nullptr ? std::string_view() : added->content;
}

std::string_view Tokenizer::TokenBytes(std::int32_t id) const {
  if (id < 0 || id >= size_) return {};
  if (id < vocabulary_.size() && !vocabulary_.Text(id).empty()) return vocabulary_.Bytes(id);
  const AddedToken* added = AddedWithId(id);
  return added == nullptr ? std::string_view() : added->content;
}

std::optional<std::int32_t> Tokenizer::IdOf(std::string_view token_text) const {
  const auto id = vocabulary_.IdOfText(token_text);
  if (id.has_value()) return id;
  const auto found =
      std::find_if(added_tokens_.begin(), added_tokens_.end(),
                   [token_text](const AddedToken& token) { return token.content == token_text; });
  return found == added_tokens_.end() ? std::nullopt : std::optional(found->id);
}

absl::Status Tokenizer::Encode(std::string_view text, std::vector<std::int32_t>& ids) const {
  // A non-owning pointer for the duration of the call.
  const std::shared_ptr<const Tokenizer> self(std::shared_ptr<const Tokenizer>(), this);
  return TokenEncoder(self, {.cached_words = 0}).Encode(text, ids);
}

absl::StatusOr<std::string> Tokenizer::Decode(std::span<const std::int32_t> ids) const {
  std::string text;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::string_view bytes = TokenBytes(ids[i]);
    if (bytes.empty()) {
      return runtime::InvalidArgument("id " + std::to_string(ids[i]) + " at " + std::to_string(i) +
                                      " is no token of " + std::to_string(size_));
    }
    text.append(bytes);
  }
  return text;
}

}  // namespace shoal::tokens
