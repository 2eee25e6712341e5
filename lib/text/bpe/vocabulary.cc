// SPDX-License-Identifier: Apache-2.0
#include "text/bpe/vocabulary.h"

#include <utility>

#include "text/bpe/byte_alphabet.h"

namespace shoal::tokens {
namespace {

std::optional<std::int32_t> Find(const absl::flat_hash_map<std::string_view, std::int32_t>& ids,
                                 std::string_view key) {
  const auto found = ids.find(key);
  return found == ids.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

absl::StatusOr<Vocabulary> Vocabulary::Create(std::vector<std::string> texts) {
  Vocabulary made;
  made.texts_ = std::move(texts);
  made.bytes_.resize(made.texts_.size());
  made.id_of_text_.reserve(made.texts_.size());
  made.id_of_bytes_.reserve(made.texts_.size());
  for (std::size_t i = 0; i < made.texts_.size(); ++i) {
    const std::string& text = made.texts_[i];
    if (text.empty()) continue;
    const auto id = static_cast<std::int32_t>(i);
    const auto [known, is_new] = made.id_of_text_.try_emplace(text, id);
    if (!is_new) {
      return runtime::InvalidArgument("tokens " + std::to_string(known->second) + " and " +
                                      std::to_string(id) + " are both \"" + text + "\"");
    }
    auto bytes = FromAlphabet(text);
    made.bytes_[i] = bytes.has_value() ? *std::move(bytes) : text;
    if (bytes.has_value()) made.id_of_bytes_.try_emplace(made.bytes_[i], id);
  }
  for (std::size_t byte = 0; byte < made.byte_ids_.size(); ++byte) {
    const std::string one(1, static_cast<char>(byte));
    const auto id = made.IdOfBytes(one);
    if (!id.has_value()) {
      return runtime::InvalidArgument("byte " + std::to_string(byte) + ", written \"" +
                                      InAlphabet(one) +
                                      "\", is no token: not every text could be encoded");
    }
    made.byte_ids_[byte] = *id;
  }
  return made;
}

std::optional<std::int32_t> Vocabulary::IdOfText(std::string_view text) const {
  return Find(id_of_text_, text);
}

std::optional<std::int32_t> Vocabulary::IdOfBytes(std::string_view bytes) const {
  return Find(id_of_bytes_, bytes);
}

}  // namespace shoal::tokens
