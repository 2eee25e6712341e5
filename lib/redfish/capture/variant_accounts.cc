// SPDX-License-Identifier: Apache-2.0
#include "redfish/capture/variant_accounts.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "redfish/capture/uri.h"

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::size_t, 4> kCounts = {8, 10, 12, 16};
// What an empty slot has of the account that it is made from.
constexpr std::array<std::string_view, 15> kOfSlots = {
    "@odata.context", "@odata.id",    "@odata.type", "Id",       "Name",
    "Description",    "Enabled",      "Password",    "UserName", "RoleId",
    "Locked",         "AccountTypes", "Links",       "Actions",  "PasswordChangeRequired"};
constexpr const char* kNoRole = "None";

std::string AccountsOf(ResourceTree& tree) {
  const Json* const root = tree.Find(kServiceRoot);
  const Json* const service =
      root == nullptr ? nullptr : tree.Find(LinkTarget(root->value("AccountService", Json())));
  return service == nullptr ? std::string() : LinkTarget(service->value("Accounts", Json()));
}

// Returns the URI of the role with the least rights that an empty slot may have, or an empty text.
std::string LeastRole(ResourceTree& tree) {
  std::string least;
  for (const auto& [uri, body] : tree.resources()) {
    if (!TextAt(body, "@odata.type").starts_with("#Role.")) continue;
    const std::string id =
        TextAt(body, "RoleId").empty() ? TextAt(body, "Id") : TextAt(body, "RoleId");
    if (id == kNoRole) return uri;
    if (id == "ReadOnly") least = uri;
  }
  return least;
}

// Turns the copy of an account into an empty slot.
void Empty(Json& slot, const std::string& id, const std::string& role) {
  for (auto member = slot.begin(); member != slot.end();) {
    const bool stays = std::find(kOfSlots.begin(), kOfSlots.end(), member.key()) != kOfSlots.end();
    member = stays ? std::next(member) : slot.erase(member);
  }
  slot["Id"] = id;
  slot["UserName"] = "";
  slot["Enabled"] = false;
  slot["Links"] = Json::object();
  slot["RoleId"] = role.empty() ? kNoRole : role.substr(role.rfind('/') + 1);
  if (!role.empty()) slot["Links"]["Role"] = {{"@odata.id", role}};
}

// Returns what lies below the collection and belongs to no member, where a slot may come.
std::set<std::string> Strays(ResourceTree& tree, const std::string& collection,
                             const std::vector<std::string>& accounts) {
  std::set<std::string> strays;
  for (const auto& [uri, body] : tree.resources()) {
    const bool of_account =
        std::any_of(accounts.begin(), accounts.end(),
                    [&uri = uri](const std::string& account) { return IsAtOrBelow(uri, account); });
    if (uri.starts_with(collection + "/") && !of_account) strays.insert(uri);
  }
  return strays;
}

void MakeSlots(ResourceTree& tree, const std::string& collection,
               const std::vector<std::string>& accounts, Draws& draws) {
  tree.Remove(Strays(tree, collection, accounts));
  const std::size_t first = draws.Chance(0.5) ? 1 : 2;
  const std::size_t count = kCounts[draws.Below(kCounts.size())];
  const std::string role = draws.Chance(0.5) ? LeastRole(tree) : std::string();
  std::map<std::string, std::string, std::less<>> numbers;
  for (std::size_t i = 0; i < accounts.size(); ++i) {
    numbers[accounts[i]] = std::to_string(first + i);
  }
  tree.Rename(numbers);
  const std::string original = collection + "/" + std::to_string(first);
  Json members = Json::array();
  for (std::size_t number = 1; number <= std::max(count, first + accounts.size()); ++number) {
    const std::string id = std::to_string(number);
    const std::string uri = collection + "/" + id;
    members.push_back({{"@odata.id", uri}});
    if (number >= first && number < first + accounts.size()) continue;
    tree.Copy(original, uri, true);
    if (Json* const slot = tree.Find(uri)) Empty(*slot, id, role);
  }
  Json& list = *tree.Find(collection);
  if (list.contains("Members@odata.count")) list["Members@odata.count"] = members.size();
  list["Members"] = std::move(members);
}

}  // namespace

void ChangeAccounts(ResourceTree& tree, Draws& draws) {
  const std::string collection = AccountsOf(tree);
  const Json* const list = tree.Find(collection);
  if (list == nullptr) return;
  std::vector<std::string> accounts = MemberUris(*list);
  std::set<std::string> empty;
  for (const std::string& uri : accounts) {
    const Json* const body = tree.Find(uri);
    if (body == nullptr || !uri.starts_with(collection + "/")) return;
    if (body->value("UserName", Json()) == Json("")) empty.insert(uri);
  }
  if (empty.size() == accounts.size()) return;
  if (!empty.empty()) {
    if (draws.Chance(0.5)) tree.Remove(empty);
  } else if (draws.Chance(0.6)) {
    MakeSlots(tree, collection, accounts, draws);
  }
}

}  // namespace shoal::redfish
