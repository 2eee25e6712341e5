// SPDX-License-Identifier: Apache-2.0
// A content key names a text: it is the first 128 bits of the SHA-256 of the text's UTF-8 bytes.
//
// Equal texts have equal keys on every machine, so a key stands for its text on the wire, in caches
// and in stored unrolls. The all-zero key means "no content"; KeyOf returns it for the empty text.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"

namespace shoal::content {

struct ContentKey {
  static constexpr std::size_t kBytes = 16;

  std::array<std::uint8_t, kBytes> bytes{};

  auto operator<=>(const ContentKey&) const = default;
  bool IsZero() const { return *this == ContentKey{}; }
  // Returns 32 lower-case hexadecimal digits.
  std::string ToHex() const;
  // Returns the 16 bytes as they go on the wire.
  std::string_view AsBytes() const {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  // Return INVALID_ARGUMENT, naming the length, when it is not that of a key.
  static absl::StatusOr<ContentKey> FromBytes(std::span<const std::uint8_t> bytes);
  static absl::StatusOr<ContentKey> FromBytes(std::string_view bytes);
  static absl::StatusOr<ContentKey> FromHex(std::string_view hex);
};

ContentKey KeyOf(std::string_view text);
// Returns the key of an ordered list: the key of the concatenated bytes of its keys.
ContentKey KeyOf(std::span<const ContentKey> keys);

// Returns the bytes of the keys one after the other, as lists go on the wire.
inline std::string_view AsBytes(std::span<const ContentKey> keys) {
  return {reinterpret_cast<const char*>(keys.data()), keys.size_bytes()};
}
// Returns INVALID_ARGUMENT when the last key is incomplete.
absl::StatusOr<std::vector<ContentKey>> KeysFromBytes(std::string_view bytes);

// Returns all 64 hexadecimal digits of the SHA-256 of `bytes`.
std::string Sha256Hex(std::string_view bytes);

// Hashes keys for std and absl containers. Keys are uniform already, so any eight of their bytes
// are a hash.
struct ContentKeyHash {
  std::size_t operator()(const ContentKey& key) const noexcept {
    std::size_t value;
    static_assert(sizeof(value) <= ContentKey::kBytes);
    std::memcpy(&value, key.bytes.data(), sizeof(value));
    return value;
  }
};

}  // namespace shoal::content

template <>
struct std::hash<shoal::content::ContentKey> : shoal::content::ContentKeyHash {};
