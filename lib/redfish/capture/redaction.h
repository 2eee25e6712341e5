// SPDX-License-Identifier: Apache-2.0
// Replaces secrets in a recorded body and keeps its shape: texts become another text, nothing is
// removed, and numbers, booleans and nulls stay.
//
// A property is judged by the words of its name ("Users.2.SHA256Password", "AgentCommunity",
// "CommunityName", "LicenseKey"). Secret words are passwords, keys, tokens, hashes, salts, secrets,
// communities, licences and passphrases, and on request serial numbers and service tags. The
// "Value" of an object with such a name is secret as well. "PasswordChangeRequired", "KeyType",
// links, annotations, and all of a schema or a registry stay as they are. A text that holds a PEM
// private key is replaced under any name. Under the name of a hash, short texts and names of
// algorithms stay. Secrets that the name does not reveal stay: URIs and free texts may still
// identify a host.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

namespace shoal::redfish {

// The text that replaces a secret.
inline constexpr std::string_view kRedacted = "REDACTED";

struct RedactionOptions {
  bool serial_numbers = false;
};

// Returns true when texts under this name are, or may be, secret.
bool IsSecretName(std::string_view name, const RedactionOptions& options);

// Returns true for headers that carry credentials, ignoring case: "X-Auth-Token", "Set-Cookie".
bool IsCredentialHeader(std::string_view name);

// Returns how many texts were replaced; texts that had been replaced before do not count. `body`
// must nest no deeper than content::kMaximumNesting.
std::int64_t Redact(nlohmann::json& body, const RedactionOptions& options);

}  // namespace shoal::redfish
