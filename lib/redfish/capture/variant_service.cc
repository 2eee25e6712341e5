// SPDX-License-Identifier: Apache-2.0
#include "redfish/capture/variant_service.h"

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "redfish/capture/uri.h"

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kVendors[] = {"Contoso", "Fabrikam", "Northwind", "Litware", "Adatum"};
constexpr std::string_view kPurposes[] = {"App", "Fleet", "Tenant", "Agent", "Support"};

struct MadeByClients {
  const char* service;
  const char* collection;
};
constexpr MadeByClients kCollections[] = {{"AccountService", "Accounts"},
                                          {"EventService", "Subscriptions"}};

// Returns the object `name` of `parent`, made where it is missing; nullptr where something else is.
Json* ObjectOf(Json& parent, const std::string& name) {
  Json& child = parent[name];
  if (child.is_null()) child = Json::object();
  return child.is_object() ? &child : nullptr;
}

void AddVendorCollection(ResourceTree& tree, const MadeByClients& made, Draws& draws) {
  const std::string vendor(draws.Pick(std::span<const std::string_view>(kVendors)));
  const std::string purpose(draws.Pick(std::span<const std::string_view>(kPurposes)));
  const Json* const root = tree.Find(kServiceRoot);
  if (root == nullptr) return;
  const std::string service = LinkTarget(root->value(made.service, Json()));
  Json* const body = tree.Find(service);
  if (body == nullptr) return;
  const Json* const standard = tree.Find(LinkTarget(body->value(made.collection, Json())));
  if (standard == nullptr) return;
  const std::string name = purpose + made.collection;
  const std::string uri = service + "/Oem/" + vendor + "/" + name;
  Json* const oem = ObjectOf(*body, "Oem");
  Json* const own = oem == nullptr ? nullptr : ObjectOf(*oem, vendor);
  if (own == nullptr || tree.Find(uri) != nullptr) return;
  (*own)[name] = {{"@odata.id", uri}};
  tree.resources()[uri] = {{"@odata.id", uri},
                           {"@odata.type", TextAt(*standard, "@odata.type")},
                           {"Name", purpose + " " + made.collection},
                           {"Members", Json::array()},
                           {"Members@odata.count", 0}};
}

}  // namespace

void ChangeQueries(ResourceTree& tree, Draws& draws) {
  const bool expands = draws.Chance(0.5);
  Json* const root = tree.Find(kServiceRoot);
  if (root == nullptr) return;
  const auto features = root->find("ProtocolFeaturesSupported");
  if (features == root->end() || !features->is_object()) return;
  const auto query = features->find("ExpandQuery");
  if (query == features->end() || !query->is_object()) return;
  for (const char* const name : {"ExpandAll", "Levels", "Links", "NoLinks"}) {
    (*query)[name] = expands && (std::string_view(name) == "NoLinks" ||
                                 query->value(name, Json()) == Json(true));
  }
}

void AddVendorCollections(ResourceTree& tree, Draws& draws) {
  for (const MadeByClients& made : kCollections) {
    if (draws.Chance(0.4)) AddVendorCollection(tree, made, draws);
  }
}

}  // namespace shoal::redfish
