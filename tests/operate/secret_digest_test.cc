// SPDX-License-Identifier: Apache-2.0
#include "operate/secret_digest.h"

#include <absl/strings/escaping.h>

#include <catch2/catch.hpp>
#include <string>

namespace shoal::operate {

TEST_CASE("a digest knows its secret again, and no other one") {
  const std::string digest = DigestOf("Tr0ub4dor&3").value();
  REQUIRE(IsDigestOf(digest, "Tr0ub4dor&3").value());
  REQUIRE_FALSE(IsDigestOf(digest, "Tr0ub4dor&4").value());
  REQUIRE_FALSE(IsDigestOf(digest, "").value());
}

TEST_CASE("digests of one secret differ by their salts, and do not hold it") {
  const std::string digest = DigestOf("Tr0ub4dor&3").value();
  REQUIRE(digest != DigestOf("Tr0ub4dor&3").value());
  REQUIRE(digest.find(absl::Base64Escape("Tr0ub4dor&3")) == std::string::npos);
}

TEST_CASE("a digest is that of scrypt with the stated parameters") {
  // The salt is bytes(range(16)), and the hash that of Python's hashlib.scrypt with n=2**15, r=8,
  // p=1, dklen=32, maxmem=2**26.
  REQUIRE(IsDigestOf("AAECAwQFBgcICQoLDA0ODw==:6JW2ttgDL7OWuxD1AFSd+Pf37LhmZN4kK9VMLbsjSL0=",
                     "Tr0ub4dor&3")
              .value());
}

TEST_CASE("a text that is no digest is one of no secret") {
  const std::string digest = DigestOf("a").value();
  for (const std::string& text :
       {std::string(), std::string(":"), digest + "0", "x" + digest,
        std::string(digest.size(), '?'), std::string(digest.size(), ':')}) {
    INFO(text);
    REQUIRE_FALSE(IsDigestOf(text, "a").value());
  }
}

}  // namespace shoal::operate
