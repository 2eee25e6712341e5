// SPDX-License-Identifier: Apache-2.0
// Takes secrets out of a recorded body and leaves its shape: texts become another text, nothing is
// removed, and numbers, booleans and nulls stay.
//
// A property is judged by its name, word by word ("Users.2.SHA256Password", "AgentCommunity",
// "CommunityName", "LicenseKey"): passwords, keys, tokens, hashes, salts, secrets, communities,
// licences, passphrases, and serial numbers and service tags if asked; so is the "Value" of an
// object that has such a name. "PasswordChangeRequired", "KeyType",
// links, annotations, and all of a schema or a registry are left alone. A text that holds a PEM
// private key is taken out under any name; under a hash's, a short one and the name of an
// algorithm stay. What a name does not tell stays: URIs and free texts may
// still identify a host.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

namespace shoal::redfish {

// What stands in a secret's place.
inline constexpr std::string_view kRedacted = "REDACTED";

struct RedactionOptions {
  bool serial_numbers = false;
};

// True when texts under this name are, or may be, secret.
bool IsSecretName(std::string_view name, const RedactionOptions& options);

// True for headers that let their bearer in, in any capitals: "X-Auth-Token", "Set-Cookie".
bool IsCredentialHeader(std::string_view name);

// Returns how many texts were replaced; those that were before do not count. `body` nests no deeper
// than content::kMaximumNesting.
std::int64_t Redact(nlohmann::json& body, const RedactionOptions& options);

}  // namespace shoal::redfish
