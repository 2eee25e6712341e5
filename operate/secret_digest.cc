// SPDX-License-Identifier: Apache-2.0
#include "operate/secret_digest.h"

#include <absl/strings/escaping.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <cstdint>

namespace shoal::operate {
namespace {

constexpr std::size_t kSaltBytes = 16;
constexpr std::size_t kHashBytes = 32;
constexpr std::uint64_t kCost = std::uint64_t{1} << 15;
constexpr std::uint64_t kBlock = 8;
constexpr std::uint64_t kParallel = 1;
// scrypt needs 32 MiB and a little.
constexpr std::uint64_t kMostMemory = std::uint64_t{64} << 20;

unsigned char* Bytes(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

const unsigned char* Bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

absl::StatusOr<std::string> HashOf(std::string_view secret, std::string_view salt) {
  std::string hash(kHashBytes, '\0');
  if (EVP_PBE_scrypt(secret.data(), secret.size(), Bytes(salt), salt.size(), kCost, kBlock,
                     kParallel, kMostMemory, Bytes(hash), hash.size()) != 1) {
    return runtime::Internal("no digest of a secret can be made");
  }
  return hash;
}

}  // namespace

absl::StatusOr<std::string> DigestOf(std::string_view secret) {
  std::string salt(kSaltBytes, '\0');
  if (RAND_bytes(Bytes(salt), static_cast<int>(salt.size())) != 1) {
    return runtime::Internal("there is no randomness for a digest");
  }
  SHOAL_ASSIGN_OR_RETURN(const std::string hash, HashOf(secret, salt));
  return absl::Base64Escape(salt) + ":" + absl::Base64Escape(hash);
}

absl::StatusOr<bool> IsDigestOf(std::string_view digest, std::string_view secret) {
  std::string salt;
  std::string expected;
  const std::size_t colon = digest.find(':');
  const bool is_digest = colon != digest.npos &&
                         absl::Base64Unescape(std::string(digest.substr(0, colon)), &salt) &&
                         absl::Base64Unescape(std::string(digest.substr(colon + 1)), &expected) &&
                         salt.size() == kSaltBytes && expected.size() == kHashBytes;
  if (!is_digest) return false;
  SHOAL_ASSIGN_OR_RETURN(const std::string hash, HashOf(secret, salt));
  return CRYPTO_memcmp(hash.data(), expected.data(), hash.size()) == 0;
}

}  // namespace shoal::operate
