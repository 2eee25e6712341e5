// SPDX-License-Identifier: Apache-2.0
#include "text/bpe/token_encoder.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace shoal::tokens {
namespace {

template <typename Value>
std::uint64_t Load(const char* bytes) {
  Value value;
  std::memcpy(&value, bytes, sizeof(value));
  return value;
}

std::string_view TextOf(std::string_view text, const TextPiece& piece) {
  return text.substr(piece.range.begin, piece.range.end - piece.range.begin);
}

}  // namespace

TokenEncoder::TokenEncoder(std::shared_ptr<const Tokenizer> tokenizer)
    : TokenEncoder(std::move(tokenizer), Options()) {}

TokenEncoder::TokenEncoder(std::shared_ptr<const Tokenizer> tokenizer, const Options& options)
    : tokenizer_(std::move(tokenizer)),
      places_(options.cached_words == 0 ? 0 : std::bit_ceil(options.cached_words)) {}

absl::Status TokenEncoder::Encode(std::string_view text, std::vector<std::int32_t>& ids) {
  if (text.size() > Tokenizer::kMaximumText) {
    return runtime::InvalidArgument("a text of " + std::to_string(text.size()) +
                                    " bytes is longer than " +
                                    std::to_string(Tokenizer::kMaximumText));
  }
  const std::size_t before = ids.size();
  const AddedTokenFinder& finder = tokenizer_->raw_finder();
  absl::Status status;
  if (finder.empty()) {
    status = EncodeText(text, ids);
  } else {
    pieces_.clear();
    finder.Split(text, pieces_);
    for (const TextPiece& piece : pieces_) {
      if (piece.token != TextPiece::kText) {
        ids.push_back(piece.token);
      } else if (status = EncodeText(TextOf(text, piece), ids); !status.ok()) {
        break;
      }
    }
  }
  if (!status.ok()) ids.resize(before);
  return status;
}

absl::Status TokenEncoder::EncodeText(std::string_view text, std::vector<std::int32_t>& ids) {
  if (!tokenizer_->normalizer().empty()) {
    SHOAL_RETURN_IF_ERROR(
        tokenizer_->normalizer().Apply(text, patterns_, normalizing_, normalized_));
    text = normalized_;
  }
  const AddedTokenFinder& finder = tokenizer_->normalized_finder();
  if (finder.empty()) return EncodeWords(text, ids);
  normalized_pieces_.clear();
  finder.Split(text, normalized_pieces_);
  for (const TextPiece& piece : normalized_pieces_) {
    if (piece.token != TextPiece::kText) {
      ids.push_back(piece.token);
    } else {
      SHOAL_RETURN_IF_ERROR(EncodeWords(TextOf(text, piece), ids));
    }
  }
  return absl::OkStatus();
}

absl::Status TokenEncoder::EncodeWords(std::string_view text, std::vector<std::int32_t>& ids) {
  return tokenizer_->pre_tokenizer().ForEachWord(
      text, patterns_, splitting_, [this, &ids](std::string_view word) { EncodeWord(word, ids); });
}

// Words of equal size have equal keys exactly if they are equal, since the loads overlap and cover
// all bytes.
TokenEncoder::WordKey TokenEncoder::KeyOf(std::string_view word) {
  const char* bytes = word.data();
  const std::size_t size = word.size();
  if (size > 16) {
    return {Load<std::uint64_t>(bytes), Load<std::uint64_t>(bytes + 8),
            Load<std::uint64_t>(bytes + size - 16), Load<std::uint64_t>(bytes + size - 8)};
  }
  if (size >= 8) {
    return {Load<std::uint64_t>(bytes), Load<std::uint64_t>(bytes + size - 8), 0, 0};
  }
  if (size >= 4) {
    return {Load<std::uint32_t>(bytes) | Load<std::uint32_t>(bytes + size - 4) << 32, 0, 0, 0};
  }
  return {Load<std::uint8_t>(bytes) | Load<std::uint8_t>(bytes + size / 2) << 8 |
              Load<std::uint8_t>(bytes + size - 1) << 16,
          0, 0, 0};
}

TokenEncoder::Place& TokenEncoder::PlaceOf(const WordKey& key, std::size_t size) {
  std::uint64_t hash = key[0] * 0x9E3779B97F4A7C15ULL + size;
  hash = (hash ^ hash >> 32 ^ key[1]) * 0xC2B2AE3D27D4EB4FULL;
  hash = (hash ^ hash >> 29 ^ key[2]) * 0x165667B19E3779F9ULL;
  hash = (hash ^ hash >> 32 ^ key[3]) * 0x9E3779B97F4A7C15ULL;
  return places_[(hash >> 32) & (places_.size() - 1)];
}

void TokenEncoder::EncodeWord(std::string_view word, std::vector<std::int32_t>& ids) {
  if (word.size() == 1) {
    ids.push_back(tokenizer_->vocabulary().byte_ids()[static_cast<std::uint8_t>(word[0])]);
    return;
  }
  if (places_.empty() || word.size() > kWordBytes) {
    MergeWord(word, ids);
    return;
  }
  const auto key = KeyOf(word);
  Place& place = PlaceOf(key, word.size());
  const std::size_t first = ids.size();
  if (place.size == word.size() && place.key == key) {
    ids.insert(ids.end(), place.ids.begin(), place.ids.begin() + place.count);
    return;
  }
  MergeWord(word, ids);
  const std::size_t count = ids.size() - first;
  if (count > kWordIds) return;
  place.key = key;
  std::copy(ids.begin() + static_cast<std::ptrdiff_t>(first), ids.end(), place.ids.begin());
  place.size = static_cast<std::uint8_t>(word.size());
  place.count = static_cast<std::uint8_t>(count);
}

void TokenEncoder::MergeWord(std::string_view word, std::vector<std::int32_t>& ids) {
  const Vocabulary& vocabulary = tokenizer_->vocabulary();
  if (tokenizer_->ignore_merges()) {
    if (const auto id = vocabulary.IdOfBytes(word); id.has_value()) {
      ids.push_back(*id);
      return;
    }
  }
  const std::size_t first = ids.size();
  for (const char byte : word) {
    ids.push_back(vocabulary.byte_ids()[static_cast<std::uint8_t>(byte)]);
  }
  merger_.Merge(tokenizer_->merges(), first, ids);
}

}  // namespace shoal::tokens
