// SPDX-License-Identifier: Apache-2.0
#include "redfish/capture/redaction.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "redfish/capture/uri.h"

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, 16> kSecrets = {
    "password",  "passphrase", "passcode", "key",     "token", "salt",       "secret", "secrets",
    "community", "licence",    "license",  "keycode", "psk",   "credential", "passwd", "pwd"};
// The second word of names like "PassPhrase", which are written as two words.
constexpr std::array<std::string_view, 3> kPassWords = {"word", "phrase", "code"};
constexpr std::array<std::string_view, 8> kCredentialHeaders = {
    "x-auth-token",  "set-cookie",          "set-cookie2",  "cookie",
    "authorization", "proxy-authorization", "x-csrf-token", "x-csrftoken"};
// When a name ends in one of these words, the word before it decides: "CommunityString".
constexpr std::array<std::string_view, 4> kCarriers = {"string", "value", "text", "data"};
constexpr std::array<std::string_view, 4> kDocuments = {"#MessageRegistry.", "#AttributeRegistry.",
                                                        "#PrivilegeRegistry.", "#JsonSchemaFile."};

unsigned char At(std::string_view text, std::size_t place) {
  return static_cast<unsigned char>(text[place]);
}

// Splits a name into words: "SNMP.1.AgentCommunity" is {snmp, agent, community}; "SSHKey" is {ssh,
// key}.
std::vector<std::string> Words(std::string_view name) {
  std::vector<std::string> words;
  bool in_word = false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const unsigned char c = At(name, i);
    if (!absl::ascii_isalpha(c)) {
      in_word = false;
      continue;
    }
    const bool after_lower = i > 0 && absl::ascii_islower(At(name, i - 1));
    const bool before_lower = i + 1 < name.size() && absl::ascii_islower(At(name, i + 1));
    const bool starts = absl::ascii_isupper(c) && (after_lower || (before_lower && i > 0));
    if (!in_word || starts) words.emplace_back();
    words.back() += absl::ascii_tolower(c);
    in_word = true;
  }
  return words;
}

template <std::size_t size>
bool Holds(const std::array<std::string_view, size>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool IsSecretWord(const std::string& word) {
  if (Holds(kSecrets, word)) return true;
  if (word.ends_with("ies")) return Holds(kSecrets, word.substr(0, word.size() - 3) + "y");
  return word.ends_with('s') && Holds(kSecrets, word.substr(0, word.size() - 1));
}

// Returns whether two words are secret together, as in "CommunityName" and "PassPhrases".
bool AreSecretTogether(const std::string& first, std::string second) {
  if (second.ends_with('s')) second.pop_back();
  return (IsSecretWord(first) && first.starts_with("communit") && second == "name") ||
         (first == "pass" && Holds(kPassWords, second));
}

bool IsSerial(const std::vector<std::string>& words) {
  const std::size_t count = words.size();
  if (words[count - 1] == "serial") return true;
  if (count < 2) return words[0] == "serialnumber" || words[0] == "servicetag";
  const std::string last = words[count - 2] + words[count - 1];
  return last == "serialnumber" || last == "servicetag";
}

// Returns whether the body is a document, whose names are names of properties and whose texts
// explain them.
bool IsDocument(const Json& body) {
  if (body.contains("$schema") || body.contains("definitions")) return true;
  const std::string type = TextAt(body, "@odata.type");
  return std::any_of(kDocuments.begin(), kDocuments.end(),
                     [&](std::string_view prefix) { return type.starts_with(prefix); });
}

// The verdict of a property's name on the texts under it.
enum class Secrecy { kNone, kAny, kDigests };

Secrecy SecrecyOf(std::string_view name, const RedactionOptions& options) {
  if (name.find('@') != std::string_view::npos) return Secrecy::kNone;
  std::vector<std::string> words = Words(name);
  while (words.size() > 1 && Holds(kCarriers, words.back())) words.pop_back();
  if (words.empty()) return Secrecy::kNone;
  if (words.back().starts_with("hash")) return Secrecy::kDigests;
  const std::size_t count = words.size();
  const bool secret = IsSecretWord(words.back()) ||
                      (count > 1 && AreSecretTogether(words[count - 2], words[count - 1])) ||
                      (options.serial_numbers && IsSerial(words));
  return secret ? Secrecy::kAny : Secrecy::kNone;
}

// Returns false for names of algorithms, which schemas have enumerations of: "TPM_ALG_SHA_512",
// "SHA256".
bool IsDigest(const std::string& text) { return text.size() >= 16 && !text.starts_with("TPM_"); }

class Redactor {
 public:
  explicit Redactor(const RedactionOptions& options) : options_(options) {}

  void Visit(Json& value, Secrecy secrecy) {
    if (value.is_object()) {
      for (auto& [name, member] : value.items()) Visit(member, SecrecyIn(secrecy, name));
    } else if (value.is_array()) {
      for (Json& item : value) Visit(item, secrecy);
    } else if (value.is_string()) {
      VisitText(value, secrecy);
    }
  }
  std::int64_t count() const { return count_; }

 private:
  // A carrier takes the secrecy of its object, as in {"Password": {"Value": "calvin"}}.
  Secrecy SecrecyIn(Secrecy object, std::string_view name) const {
    const std::vector<std::string> words = Words(name);
    const bool carries = words.size() == 1 && Holds(kCarriers, words[0]);
    return carries ? object : SecrecyOf(name, options_);
  }

  void VisitText(Json& value, Secrecy secrecy) {
    const std::string& text = value.get_ref<const std::string&>();
    const bool is_key = text.find("PRIVATE KEY-----") != std::string::npos;
    const bool secret =
        secrecy == Secrecy::kAny || (secrecy == Secrecy::kDigests && IsDigest(text));
    const bool hides =
        secret && !text.empty() && text != kRedacted && !text.starts_with("/redfish/");
    if (!hides && !is_key) return;
    value = kRedacted;
    ++count_;
  }

  const RedactionOptions& options_;
  std::int64_t count_ = 0;
};

}  // namespace

bool IsSecretName(std::string_view name, const RedactionOptions& options) {
  return SecrecyOf(name, options) != Secrecy::kNone;
}

bool IsCredentialHeader(std::string_view name) {
  return Holds(kCredentialHeaders, absl::AsciiStrToLower(std::string(name)));
}

std::int64_t Redact(Json& body, const RedactionOptions& options) {
  if (body.is_object() && IsDocument(body)) return 0;
  Redactor redactor(options);
  redactor.Visit(body, Secrecy::kNone);
  return redactor.count();
}

}  // namespace shoal::redfish
