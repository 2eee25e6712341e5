// SPDX-License-Identifier: Apache-2.0
// Where the shipped captures have their services, and how a user sends requests to them.
#pragma once

#include <absl/strings/escaping.h>

#include <string>

#include "tests/mockserver/service/worlds.h"

namespace shoal::mockserver {

inline constexpr const char* kSessions = "/redfish/v1/SessionService/Sessions";
inline constexpr const char* kAccounts = "/redfish/v1/AccountService/Accounts";
inline constexpr const char* kRoles = "/redfish/v1/AccountService/Roles";
inline constexpr const char* kAccountService = "/redfish/v1/AccountService";
inline constexpr const char* kSessionService = "/redfish/v1/SessionService";
inline constexpr const char* kPasswordOfAll = "shoal-password";

// An enabled administrator of each capture.
struct Service {
  const char* capture;
  const char* user;
  const char* account;
};
inline constexpr Service kServices[] = {
    {"openbmc-stock", "root", "/redfish/v1/AccountService/Accounts/root"},
    {"dmtf-rackmount1", "Administrator", "/redfish/v1/AccountService/Accounts/1"},
    {"hpe-dl380a-gen12", "Administrator", "/redfish/v1/AccountService/Accounts/65536"},
    {"dell-r750", "root", "/redfish/v1/AccountService/Accounts/2"}};
inline constexpr const char* kEmptySlot = "/redfish/v1/AccountService/Accounts/5";

using Names = std::vector<std::string>;

inline Response LogIn(Instance& instance, const std::string& user, const std::string& password) {
  return Post(instance, kSessions, {{"UserName", user}, {"Password", password}});
}

inline std::string TokenOf(const Response& login) { return login.Header("X-Auth-Token"); }

inline Response ByToken(Instance& instance, Method method, std::string_view uri,
                        const std::string& token, const Json& body = nullptr) {
  const std::string text = body.is_null() ? std::string() : body.dump();
  return instance.Handle({.method = method, .uri = uri, .body = text, .auth_token = token});
}

inline Response ByBasic(Instance& instance, Method method, std::string_view uri,
                        const std::string& user, const std::string& password,
                        const Json& body = nullptr) {
  const std::string text = body.is_null() ? std::string() : body.dump();
  const std::string header = "Basic " + absl::Base64Escape(user + ":" + password);
  return instance.Handle({.method = method, .uri = uri, .body = text, .authorization = header});
}

// Creates an account with this name as the service does, and returns its URI.
inline std::string MakeAccount(Instance& instance, const std::string& user,
                               const std::string& password, const std::string& role) {
  const Json body = {{"UserName", user}, {"Password", password}, {"RoleId", role}};
  if (instance.Find(kEmptySlot) != nullptr) {
    Json slot = body;
    slot["Enabled"] = true;
    REQUIRE(Patch(instance, kEmptySlot, slot).status == 200);
    return kEmptySlot;
  }
  const Response made = Post(instance, kAccounts, body);
  REQUIRE(made.status == 201);
  return made.location;
}

// Returns how many records of this kind the history has.
inline int Count(const Instance& instance, std::string_view kind) {
  int count = 0;
  for (const redfish::HistoryRecord& record : instance.history()) count += record.kind == kind;
  return count;
}

}  // namespace shoal::mockserver
