// SPDX-License-Identifier: Apache-2.0
#include "mockserver/service/metadata.h"

#include <map>
#include <pugixml.hpp>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "mockserver/service/standard_documents.h"
#include "mockserver/service/world.h"
#include "redfish/capture/uri.h"

namespace shoal::mockserver {
namespace {

constexpr const char* kEdmx = "http://docs.oasis-open.org/odata/ns/edmx";
constexpr const char* kEdm = "http://docs.oasis-open.org/odata/ns/edm";
constexpr const char* kSchemaFiles = "/redfish/v1/Schemas/";
constexpr const char* kContainer = "ServiceRoot.v1_0_0.ServiceContainer";

// The namespaces that every service uses, whatever its resources are.
constexpr const char* kAlways[] = {"JsonSchemaFile.v1_1_5",
                                   "JsonSchemaFileCollection",
                                   "Message.v1_1_2",
                                   "MessageRegistryFile.v1_1_5",
                                   "MessageRegistryFileCollection",
                                   "RedfishError.v1_0_2",
                                   "RedfishExtensions.v1_0_0",
                                   "Resource.v1_0_0",
                                   "ServiceRoot.v1_0_0"};

void CollectNamespaces(const Json& json, std::set<std::string>& namespaces) {
  if (json.is_object()) {
    const std::string type = redfish::TextAt(json, "@odata.type");
    const std::size_t dot = type.rfind('.');
    if (type.starts_with('#') && dot != std::string::npos)
      namespaces.insert(type.substr(1, dot - 1));
  }
  if (!json.is_structured()) return;
  for (const Json& member : json) CollectNamespaces(member, namespaces);
}

// Collects the hosted files that are needed, with the wanted namespaces of each.
class References {
 public:
  explicit References(const StandardDocuments& documents) : documents_(documents) {}

  void Want(const std::string& name) {
    const std::string space = name.substr(0, name.find('.'));
    const std::string file = space + "_v1.xml";
    Want(file, space);
    Want(file, name);
  }

  // Adds everything that the wanted files refer to, directly or indirectly.
  void Follow() {
    while (!unread_.empty()) {
      const std::string file = std::move(unread_.back());
      unread_.pop_back();
      pugi::xml_document document;
      const Document hosted = documents_.Find(kSchemaFiles + file);
      document.load_buffer(hosted.bytes->data(), hosted.bytes->size());
      const pugi::xml_node root = document.child("edmx:Edmx");
      for (const pugi::xml_node& schema : root.child("edmx:DataServices").children("Schema")) {
        defined_[file].insert(schema.attribute("Namespace").as_string());
      }
      for (const pugi::xml_node& reference : root.children("edmx:Reference")) {
        const std::string uri = reference.attribute("Uri").as_string();
        const std::string target = uri.substr(uri.rfind('/') + 1);
        for (const pugi::xml_node& include : reference.children("edmx:Include")) {
          Want(target, include.attribute("Namespace").as_string());
          if (const auto alias = include.attribute("Alias")) {
            aliases_[include.attribute("Namespace").as_string()] = alias.as_string();
          }
        }
      }
    }
  }

  void Write(pugi::xml_node root) const {
    for (const auto& [file, namespaces] : wanted_) {
      pugi::xml_node reference = root.append_child("edmx:Reference");
      reference.append_attribute("Uri") = (kSchemaFiles + file).c_str();
      for (const std::string& name : namespaces) {
        if (!defined_.at(file).contains(name)) continue;
        pugi::xml_node include = reference.append_child("edmx:Include");
        include.append_attribute("Namespace") = name.c_str();
        if (const auto alias = aliases_.find(name); alias != aliases_.end()) {
          include.append_attribute("Alias") = alias->second.c_str();
        }
      }
    }
  }

 private:
  void Want(const std::string& file, const std::string& name) {
    if (!documents_.Has(kSchemaFiles + file)) return;
    const auto [wanted, is_new] = wanted_.try_emplace(file);
    if (is_new) unread_.push_back(file);
    wanted->second.insert(name);
  }

  const StandardDocuments& documents_;
  std::map<std::string, std::set<std::string>> wanted_;
  std::map<std::string, std::set<std::string>> defined_;
  std::map<std::string, std::string> aliases_;
  std::vector<std::string> unread_;
};

}  // namespace

std::string MetadataOf(const World& world, const StandardDocuments& documents) {
  std::set<std::string> namespaces(std::begin(kAlways), std::end(kAlways));
  for (const World::Resource& resource : world.resources()) {
    CollectNamespaces(*resource.json, namespaces);
  }
  References references(documents);
  for (const std::string& name : namespaces) references.Want(name);
  references.Follow();

  pugi::xml_document document;
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  declaration.append_attribute("version") = "1.0";
  declaration.append_attribute("encoding") = "UTF-8";
  pugi::xml_node root = document.append_child("edmx:Edmx");
  root.append_attribute("xmlns:edmx") = kEdmx;
  root.append_attribute("Version") = "4.0";
  references.Write(root);
  pugi::xml_node schema = root.append_child("edmx:DataServices").append_child("Schema");
  schema.append_attribute("xmlns") = kEdm;
  schema.append_attribute("Namespace") = "Service";
  pugi::xml_node container = schema.append_child("EntityContainer");
  container.append_attribute("Name") = "Service";
  container.append_attribute("Extends") = kContainer;
  std::ostringstream text;
  document.save(text, "  ");
  return text.str();
}

}  // namespace shoal::mockserver
