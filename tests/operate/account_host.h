// SPDX-License-Identifier: Apache-2.0
// A host with accounts, on which somebody else makes accounts as well, and which counts the logins
// that it refuses.
#pragma once

#include <absl/strings/escaping.h>

#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "platform/http/server.h"

namespace shoal::operate {

inline const std::string kAccountCollection = "/redfish/v1/AccountService/Accounts";

class AccountHost {
 public:
  // What happens to a POST: the user of an account that somebody else makes just before it, "" for
  // none; whether it takes effect; and its status, where 0 means no answer.
  struct Reaction {
    std::string other = {};
    bool acts = true;
    int status = 201;
  };

  // The reactions to the first POSTs; later ones act and are answered 201. There is one account at
  // first, kAccountCollection + "/1" of the user admin.
  explicit AccountHost(std::vector<Reaction> script = {})
      : script_(std::move(script)), server_(http::Server::Create({}, [this](const auto& request) {
                                              return Handle(request);
                                            }).value()) {
    Make("admin", "Administrator");
  }

  const std::string& address() const { return server_->address(); }
  // Sets the password that Basic authentication must give, whoever the user is.
  void SetPassword(std::string password) {
    const std::lock_guard lock(mutex_);
    password_ = std::move(password);
  }
  // From now on reads that are refused because of their password get no answer.
  void LoseRefusals() {
    const std::lock_guard lock(mutex_);
    loses_refusals_ = true;
  }
  // The number of reads that were refused because of their password.
  int refusals() {
    const std::lock_guard lock(mutex_);
    return refusals_;
  }
  // Returns the requests that would change something, as "POST /redfish/v1/..".
  std::vector<std::string> requests() {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  // Returns the user's role; "" when there is no such user.
  std::string RoleOf(const std::string& user) {
    const std::lock_guard lock(mutex_);
    for (const auto& [uri, account] : accounts_) {
      if (account.at("UserName") == user) return account.at("RoleId");
    }
    return "";
  }

 private:
  void Make(const nlohmann::json& user, const nlohmann::json& role) {
    const std::string uri = kAccountCollection + "/" + std::to_string(accounts_.size() + 1);
    accounts_[uri] = {{"@odata.id", uri}, {"UserName", user}, {"RoleId", role}};
  }

  bool IsRefused(const http::ServerRequest& request) {
    const std::string_view given = request.Header("Authorization");
    std::string login;
    if (!given.starts_with("Basic ") ||
        !absl::Base64Unescape(std::string(given.substr(6)), &login)) {
      return false;
    }
    return login.substr(login.find(':') + 1) != password_;
  }

  http::ServerResponse Read(const std::string& uri) {
    nlohmann::json body;
    if (uri == kAccountCollection) {
      body = {{"@odata.id", uri}, {"Members", nlohmann::json::array()}};
      for (const auto& [member, account] : accounts_) {
        body["Members"].push_back({{"@odata.id", member}});
      }
    } else if (accounts_.contains(uri)) {
      body = accounts_.at(uri);
    } else {
      return {.status = 404};
    }
    return {.body = std::make_shared<const std::string>(body.dump())};
  }

  http::ServerResponse Handle(const http::ServerRequest& request) {
    const std::lock_guard lock(mutex_);
    if (IsRefused(request)) {
      ++refusals_;
      if (loses_refusals_) return {.dropped = true};
      return {.status = 401};
    }
    const std::string uri(request.target());
    if (request.method() == "GET") return Read(uri);
    requests_.push_back(std::string(request.method()) + " " + uri);
    const nlohmann::json body = nlohmann::json::parse(request.body());
    if (request.method() == "PATCH") {
      accounts_.at(uri).update(body);
      return {.status = 204};
    }
    const Reaction reaction = posts_ < script_.size() ? script_[posts_] : Reaction();
    ++posts_;
    if (!reaction.other.empty()) Make(reaction.other, "ReadOnly");
    if (reaction.acts) Make(body.at("UserName"), body.at("RoleId"));
    if (reaction.status == 0) return {.dropped = true};
    http::ServerResponse answer = {.status = reaction.status};
    if (reaction.acts) {
      http::AppendHeader(answer.header_lines, "Location",
                         kAccountCollection + "/" + std::to_string(accounts_.size()));
    }
    return answer;
  }

  const std::vector<Reaction> script_;
  std::mutex mutex_;
  std::map<std::string, nlohmann::json> accounts_;
  std::string password_;
  std::size_t posts_ = 0;
  int refusals_ = 0;
  bool loses_refusals_ = false;
  std::vector<std::string> requests_;
  // The last member, as its thread uses those above.
  const std::unique_ptr<http::Server> server_;
};

}  // namespace shoal::operate
