// SPDX-License-Identifier: Apache-2.0
#include "operate/host_state.h"

#include <utility>

#include "redfish/capture/uri.h"

namespace shoal::operate {

using Json = nlohmann::json;

const Json* HostState::Find(std::string_view uri) const {
  auto found = read_.find(uri);
  if (found == read_.end()) {
    if (!status_.ok() || !redfish::IsAtOrBelow(uri, "/redfish")) return nullptr;
    auto answer = host_.Get(std::string(uri));
    if (!answer.ok()) {
      status_ = answer.status();
      return nullptr;
    }
    std::optional<Json> body;
    if (answer->status == 200 && answer->body.is_object()) body = std::move(answer->body);
    found = read_.emplace(std::string(uri), std::move(body)).first;
  }
  return found->second ? &*found->second : nullptr;
}

bool HostState::HasPassword(std::string_view uri, std::string_view name,
                            std::string_view password) const {
  const Json* const account = Find(uri);
  if (account == nullptr || !name.empty()) return false;
  const std::string user = redfish::TextAt(*account, "UserName");
  if (user.empty() || !status_.ok()) return false;
  const auto [login, is_new] = logins_.try_emplace({std::string(uri), std::string(password)});
  if (!is_new) return login->second;
  const auto can = host_.CanLogIn(std::string(uri), user, std::string(password));
  if (!can.ok()) status_ = can.status();
  is_refused_ = is_refused_ || (can.ok() && !*can);
  login->second = can.ok() && *can;
  return login->second;
}

void HostState::Forget() {
  read_.clear();
  logins_.clear();
  status_ = absl::OkStatus();
  is_refused_ = false;
}

absl::StatusOr<std::vector<Json>> Unmet(const Json& predicate, HostState& state) {
  std::vector<Json> conjuncts = {predicate};
  if (predicate.is_object() && predicate.contains("all") && predicate.at("all").is_array()) {
    conjuncts = predicate.at("all").get<std::vector<Json>>();
  }
  std::vector<Json> unmet;
  for (const Json& conjunct : conjuncts) {
    SHOAL_ASSIGN_OR_RETURN(const redfish::Predicate condition, redfish::Predicate::Parse(conjunct));
    if (!condition.Evaluate(state)) unmet.push_back(conjunct);
    SHOAL_RETURN_IF_ERROR(state.status());
  }
  return unmet;
}

}  // namespace shoal::operate
