// SPDX-License-Identifier: Apache-2.0
// The tokens of a model: text and bytes by id, id by text and by bytes.
//
// A token's text is its form in files, in the alphabet of bytes (byte_alphabet.h): "Ġhello". Its
// bytes are its form in texts: " hello". A text with a character outside that alphabet stands for
// its own UTF-8; no word becomes such a token. Every single byte is a token, so every text can be
// encoded. Ids may have holes. Immutable; thread-safe.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"

namespace shoal::tokens {

class Vocabulary {
 public:
  // The maximum number of unused ids below the highest id.
  static constexpr std::size_t kMaximumHoles = std::size_t{1} << 16;

  // `texts` is indexed by id; an empty one is a hole. Returns INVALID_ARGUMENT when two are equal,
  // or when a byte is not among them, naming it.
  static absl::StatusOr<Vocabulary> Create(std::vector<std::string> texts);

  Vocabulary(Vocabulary&&) = default;
  Vocabulary& operator=(Vocabulary&&) = default;

  // Returns one more than the highest id.
  std::int32_t size() const { return static_cast<std::int32_t>(texts_.size()); }
  // Returns the empty string for a hole, here and below. REQUIRES: 0 <= id < size().
  const std::string& Text(std::int32_t id) const { return texts_[static_cast<std::size_t>(id)]; }
  const std::string& Bytes(std::int32_t id) const { return bytes_[static_cast<std::size_t>(id)]; }

  std::optional<std::int32_t> IdOfText(std::string_view text) const;
  // Finds only tokens in the alphabet.
  std::optional<std::int32_t> IdOfBytes(std::string_view bytes) const;
  // The ids of the 256 bytes.
  const std::array<std::int32_t, 256>& byte_ids() const { return byte_ids_; }

 private:
  // The views point into the strings below, which keep their addresses when the vocabulary moves.
  using IdByView = absl::flat_hash_map<std::string_view, std::int32_t>;

  Vocabulary() = default;

  std::vector<std::string> texts_;
  std::vector<std::string> bytes_;
  IdByView id_of_text_;
  IdByView id_of_bytes_;
  std::array<std::int32_t, 256> byte_ids_{};
};

}  // namespace shoal::tokens
