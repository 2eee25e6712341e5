// SPDX-License-Identifier: Apache-2.0
#include "redfish/capture/redaction.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/redfish/capture/shipped.h"

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;

Json Redacted(const std::string& text, const RedactionOptions& options = {}) {
  Json body = Json::parse(text);
  Redact(body, options);
  return body;
}

// Returns false if a value has another type, or a member is added or missing.
bool SameShape(const Json& a, const Json& b) {
  if (a.type() != b.type() || a.size() != b.size()) return false;
  if (a.is_object()) {
    for (const auto& [name, value] : a.items()) {
      if (!b.contains(name) || !SameShape(value, b.at(name))) return false;
    }
  } else if (a.is_array()) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (!SameShape(a[i], b[i])) return false;
    }
  }
  return true;
}

TEST_CASE("Passwords, keys, tokens, hashes, communities and licences are taken out by name") {
  REQUIRE(Redacted(R"({"UserName": "root", "Password": "calvin", "Oem": {
      "IPMIKey": "00aa", "Users.2.SHA256Password": "9f", "Users.2.SHA256PasswordSalt": "1c",
      "SNMP.1.AgentCommunity": "public", "CommunityNames": ["a"], "CommunityString": "x",
      "LicenseKey": "ABC-DEF", "X-Auth-Token": "t", "Hashes": ["0123456789abcdef0", "fedcba98765432100"], "sshKeys": ["ssh-rsa A"],
      "Pem": "-----BEGIN EC PRIVATE KEY-----\nMHc"}})") ==
          Json::parse(R"({"UserName": "root", "Password": "REDACTED", "Oem": {
      "IPMIKey": "REDACTED", "Users.2.SHA256Password": "REDACTED",
      "Users.2.SHA256PasswordSalt": "REDACTED", "SNMP.1.AgentCommunity": "REDACTED",
      "CommunityNames": ["REDACTED"], "CommunityString": "REDACTED", "LicenseKey": "REDACTED",
      "X-Auth-Token": "REDACTED", "Hashes": ["REDACTED", "REDACTED"], "sshKeys": ["REDACTED"],
      "Pem": "REDACTED"}})"));
}

TEST_CASE("What only sounds like a secret, and what is no text, stays") {
  const std::string text = R"({"PasswordChangeRequired": true, "Password": null, "Key": 5,
      "KeyType": "RSA", "PasswordState": "Set", "MinPasswordLength": 8, "Token": "",
      "TokenTTL": 30, "Keys": {"@odata.id": "/redfish/v1/Keys"}, "Monkey": "see",
      "Password@Redfish.AllowablePattern": "^.+$", "License": "/redfish/v1/Licenses/1",
      "HashAlgorithm": "SHA256", "BaseHash": ["TPM_ALG_SHA3_512", "SHA256"], "SerialNumber": "S1"})";
  REQUIRE(Redacted(text) == Json::parse(text));
}

TEST_CASE("Secrets written as two words, shortened, or as an object's value are taken out") {
  REQUIRE(Redacted(R"({"CommunityName": "a", "PassPhrase": "a", "PassWord": "a", "Passwd": "a",
      "RootPwd": "a", "Password": {"Value": "a", "Type": "Text"}, "Value": "b", "PassCount": "3",
      "Community": {"Name": "b"}})") ==
          Json::parse(R"({"CommunityName": "REDACTED", "PassPhrase": "REDACTED",
      "PassWord": "REDACTED", "Passwd": "REDACTED", "RootPwd": "REDACTED",
      "Password": {"Value": "REDACTED", "Type": "Text"}, "Value": "b", "PassCount": "3",
      "Community": {"Name": "b"}})"));
}

TEST_CASE("Headers that let their bearer in are known in any capitals") {
  for (const char* name : {"X-Auth-Token", "x-csrf-token", "X-CSRFToken", "SET-COOKIE",
                           "Set-Cookie2", "Authorization", "Proxy-Authorization", "Cookie"}) {
    REQUIRE(IsCredentialHeader(name));
  }
  for (const char* name : {"ETag", "Allow", "X-Auth", ""}) REQUIRE_FALSE(IsCredentialHeader(name));
}

TEST_CASE("Serial numbers and service tags go when they are asked for") {
  const Json body = Redacted(R"({"SerialNumber": "S1", "ServiceTag": "T", "ChassisServiceTag": "T",
                                 "PartNumber": "P", "BoardSerialNumber": "B"})",
                             {.serial_numbers = true});
  REQUIRE(body == Json::parse(R"({"SerialNumber": "REDACTED", "ServiceTag": "REDACTED",
      "ChassisServiceTag": "REDACTED", "PartNumber": "P", "BoardSerialNumber": "REDACTED"})"));
}

TEST_CASE("Schemas and registries speak about secrets and hold none") {
  const std::string text = R"({"@odata.type": "#AttributeRegistry.v1_3_0.AttributeRegistry",
      "RegistryEntries": {"Attributes": [{"Password": "the system password"}]}})";
  REQUIRE(Redacted(text) == Json::parse(text));
}

TEST_CASE("Every shipped capture keeps its shape, and redacting twice changes nothing more") {
  for (const char* name : kShipped) {
    for (const auto& [uri, body] : Shipped(name).resources()) {
      INFO(name << " " << uri);
      Json once = body;
      Redact(once, {.serial_numbers = true});
      REQUIRE(SameShape(once, body));
      Json twice = once;
      REQUIRE(Redact(twice, {.serial_numbers = true}) == 0);
      REQUIRE(twice == once);
    }
  }
}

}  // namespace
}  // namespace shoal::redfish
