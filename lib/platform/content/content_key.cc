// SPDX-License-Identifier: Apache-2.0
#include "platform/content/content_key.h"

#include <openssl/sha.h>

#include <algorithm>

namespace shoal::content {
namespace {

using Digest = std::array<std::uint8_t, SHA256_DIGEST_LENGTH>;

Digest Sha256(const void* data, std::size_t size) {
  Digest digest;
  SHA256(static_cast<const unsigned char*>(data), size, digest.data());
  return digest;
}

ContentKey Truncate(const Digest& digest) {
  ContentKey key;
  std::copy_n(digest.begin(), ContentKey::kBytes, key.bytes.begin());
  return key;
}

std::string Hex(std::span<const std::uint8_t> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

int DigitValue(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

}  // namespace

std::string ContentKey::ToHex() const { return Hex(bytes); }

absl::StatusOr<ContentKey> ContentKey::FromBytes(std::span<const std::uint8_t> bytes) {
  if (bytes.size() != kBytes) {
    return runtime::InvalidArgument("content key has " + std::to_string(bytes.size()) +
                                    " bytes, not 16");
  }
  ContentKey key;
  std::copy_n(bytes.begin(), kBytes, key.bytes.begin());
  return key;
}

absl::StatusOr<ContentKey> ContentKey::FromBytes(std::string_view bytes) {
  return FromBytes(std::span(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()));
}

absl::StatusOr<ContentKey> ContentKey::FromHex(std::string_view hex) {
  if (hex.size() != 2 * kBytes) {
    return runtime::InvalidArgument("content key has " + std::to_string(hex.size()) +
                                    " hexadecimal digits, not 32");
  }
  ContentKey key;
  for (std::size_t i = 0; i < kBytes; ++i) {
    const int high = DigitValue(hex[2 * i]);
    const int low = DigitValue(hex[2 * i + 1]);
    if (high < 0 || low < 0) {
      return runtime::InvalidArgument("content key \"" + std::string(hex) +
                                      "\" is not hexadecimal");
    }
    key.bytes[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  return key;
}

ContentKey KeyOf(std::string_view text) {
  if (text.empty()) return ContentKey{};
  return Truncate(Sha256(text.data(), text.size()));
}

ContentKey KeyOf(std::span<const ContentKey> keys) {
  static_assert(sizeof(ContentKey) == ContentKey::kBytes);
  return Truncate(Sha256(keys.data(), keys.size_bytes()));
}

absl::StatusOr<std::vector<ContentKey>> KeysFromBytes(std::string_view bytes) {
  if (bytes.size() % ContentKey::kBytes != 0) {
    return runtime::InvalidArgument(std::to_string(bytes.size()) +
                                    " bytes are not whole keys of 16");
  }
  std::vector<ContentKey> keys(bytes.size() / ContentKey::kBytes);
  std::copy_n(bytes.begin(), bytes.size(), reinterpret_cast<char*>(keys.data()));
  return keys;
}

std::string Sha256Hex(std::string_view bytes) { return Hex(Sha256(bytes.data(), bytes.size())); }

}  // namespace shoal::content
