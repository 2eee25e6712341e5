// SPDX-License-Identifier: Apache-2.0
#include "mockserver/service/world_documents.h"

#include <absl/strings/ascii.h>

#include <utility>

#include "mockserver/messages/extended_info.h"
#include "mockserver/service/metadata.h"
#include "mockserver/service/world.h"
#include "redfish/capture/capture.h"
#include "redfish/capture/uri.h"

namespace shoal::mockserver {

namespace {

using Entry = StandardDocuments::Entry;

constexpr const char* kServiceDocumentUri = "/redfish/v1/odata";
constexpr std::string_view kYaml = "application/yaml";

// Returns the OData service document: the service root and everything that it links to (DSP0266,
// "OData service document").
Json ServiceDocument(const Json& root) {
  Json value = Json::array();
  const auto add = [&value](const std::string& name, const std::string& uri) {
    if (!uri.empty()) value.push_back({{"name", name}, {"kind", "Singleton"}, {"url", uri}});
  };
  add("Service", "/redfish/v1/");
  for (const auto& [name, link] : root.items()) add(name, redfish::LinkTarget(link));
  if (const Json* const sessions = redfish::Resolve(root, "/Links/Sessions")) {
    add("Sessions", redfish::LinkTarget(*sessions));
  }
  return {{"@odata.context", kMetadataUri}, {"value", std::move(value)}};
}

// Returns a type such as "#ComputerSystem.v1_24_0.ComputerSystem".
std::string TypeOf(const Entry& schema) { return "#" + schema.versioned + "." + schema.name; }

// Converts "Base.1.22.1" to "Base.1.22". A name without such a version stays whole.
std::string WithoutErrata(const Entry& registry) {
  const std::size_t last = registry.versioned.rfind('.');
  const bool has_errata = last > registry.name.size() && last != std::string::npos;
  return has_errata ? registry.versioned.substr(0, last) : registry.versioned;
}

// Returns `uri` when it is the file of exactly this type, "/.../Chassis.v1_16_0.json"; for a file
// of another version, returns the unversioned file that stands for all versions.
std::string HostedUri(std::string_view uri, std::string_view odata_type) {
  const std::string_view versioned = uri.substr(0, uri.rfind('.'));
  const std::size_t dot = versioned.find('.', versioned.rfind('/') + 1);
  if (dot == std::string_view::npos) return std::string(uri);
  const std::string version = std::string(versioned.substr(dot)) + ".";
  const bool is_same = odata_type.find(version) != std::string_view::npos;
  return is_same ? std::string(uri) : std::string(versioned.substr(0, dot)) + ".json";
}

}  // namespace

struct WorldDocuments::Kind {
  const char* folder;
  const char* name;
  const char* collection_type;
  const char* member_type;
  // The member's own property, and its value.
  const char* subject;
  std::string (*subject_of)(const Entry& entry);
  // Whether members are named with their version.
  bool versioned;
  const std::vector<Entry>& entries;
};

WorldDocuments::WorldDocuments(const World& world,
                               std::shared_ptr<const StandardDocuments> standard)
    : standard_(std::move(standard)) {
  AddGenerated(kMetadataUri, MetadataOf(world, *standard_), kXmlType);
  AddGenerated(kServiceDocumentUri, Serialise(ServiceDocument(world.capture().service_root())),
               kJsonType);
  AddGenerated(kOpenApiUri, OpenApiOf(world), kYaml);
  AddFileResources(world, {.folder = "/redfish/v1/JsonSchemas",
                           .name = "JSON Schema Files",
                           .collection_type = "#JsonSchemaFileCollection.JsonSchemaFileCollection",
                           .member_type = "#JsonSchemaFile.v1_1_5.JsonSchemaFile",
                           .subject = "Schema",
                           .subject_of = TypeOf,
                           .versioned = false,
                           .entries = standard_->schemas()});
  AddFileResources(
      world, {.folder = "/redfish/v1/Registries",
              .name = "Registries",
              .collection_type = "#MessageRegistryFileCollection.MessageRegistryFileCollection",
              .member_type = "#MessageRegistryFile.v1_1_5.MessageRegistryFile",
              .subject = "Registry",
              .subject_of = WithoutErrata,
              .versioned = true,
              .entries = standard_->registries()});
  AddOwnFiles(world);
}

void WorldDocuments::AddGenerated(std::string uri, std::string bytes,
                                  std::string_view content_type) {
  generated_.emplace(std::move(uri),
                     Document{std::make_shared<const std::string>(std::move(bytes)), content_type});
}

void WorldDocuments::AddFileResources(const World& world, const Kind& kind) {
  if (world.Find(kind.folder).has_value()) return;
  Json members = Json::array();
  for (const Entry& entry : kind.entries) {
    const std::string& id = kind.versioned ? entry.versioned : entry.name;
    const std::string uri = std::string(kind.folder) + "/" + id;
    members.push_back({{"@odata.id", uri}});
    Json member = {{"@odata.id", uri},
                   {"@odata.type", kind.member_type},
                   {"Id", id},
                   {"Name", id},
                   {"Languages", Json::array({"en"})},
                   {kind.subject, kind.subject_of(entry)}};
    member["Location"] = Json::array({{{"Language", "en"}, {"Uri", entry.uri}}});
    AddGenerated(uri, Serialise(member), kJsonType);
  }
  Json collection = {{"@odata.id", kind.folder},
                     {"@odata.type", kind.collection_type},
                     {"Name", kind.name},
                     {"Members@odata.count", members.size()}};
  collection["Members"] = std::move(members);
  AddGenerated(kind.folder, Serialise(collection), kJsonType);
}

void WorldDocuments::AddOwnFiles(const World& world) {
  Spellings spellings;
  for (const World::Resource& resource : world.resources()) {
    spellings.emplace(absl::AsciiStrToLower(resource.uri), resource.uri);
  }
  for (const World::Resource& resource : world.resources()) {
    const std::string schema = redfish::TextAt(*resource.json, "Schema");
    const std::string registry = redfish::TextAt(*resource.json, "Registry");
    const auto location = resource.json->find("Location");
    if ((schema.empty() && registry.empty()) || location == resource.json->end()) continue;
    const std::string_view hosted =
        schema.empty() ? standard_->RegistryUri(registry) : standard_->SchemaUri(schema);
    for (const Json& place : *location) {
      const std::string language = redfish::TextAt(place, "Language");
      const bool english = language.starts_with("en") || language.starts_with("En");
      if (english) AddOwnFile(world, spellings, schema, redfish::TextAt(place, "Uri"), hosted);
    }
  }
}

void WorldDocuments::AddOwnFile(const World& world, const Spellings& spellings,
                                const std::string& type, const std::string& uri,
                                std::string_view hosted) {
  std::string canonical = redfish::CanonicalUri(uri);
  if (!canonical.starts_with(redfish::kServiceRoot)) return;
  const auto own = spellings.find(absl::AsciiStrToLower(canonical));
  if (own != spellings.end()) {
    if (!world.Find(canonical).has_value()) canonical = own->second;
  } else if (hosted.empty()) {
    return;
  } else {
    stand_ins_.emplace(canonical, hosted);
  }
  if (!type.empty()) own_schemas_.emplace(type, std::move(canonical));
}

Document WorldDocuments::Find(std::string_view uri) const {
  if (const auto found = generated_.find(uri); found != generated_.end()) return found->second;
  return standard_->Find(Hosted(uri));
}

bool WorldDocuments::Has(std::string_view uri) const {
  return generated_.contains(uri) || standard_->Has(Hosted(uri));
}

std::string_view WorldDocuments::Hosted(std::string_view uri) const {
  const auto stand_in = stand_ins_.find(uri);
  return stand_in == stand_ins_.end() ? uri : std::string_view(stand_in->second);
}

std::string WorldDocuments::DescribedBy(std::string_view odata_type) const {
  const auto own = own_schemas_.find(odata_type);
  const std::string uri = own == own_schemas_.end()
                              ? HostedUri(standard_->SchemaUri(odata_type), odata_type)
                              : own->second;
  return uri.empty() ? uri : "<" + uri + ">; rel=describedby";
}

namespace {

Json OperationOf(const std::string& summary) {
  return {{"summary", summary}, {"responses", {{"default", {{"description", summary}}}}}};
}

}  // namespace

std::string OpenApiOf(const World& world) {
  Json paths = Json::object();
  ResourceId id = 0;
  for (const World::Resource& resource : world.resources()) {
    Json& path = paths[resource.uri];
    path["get"] = OperationOf("Reads the resource");
    if (resource.methods.post) path["post"] = OperationOf("Adds a member");
    if (resource.methods.patch) path["patch"] = OperationOf("Changes properties");
    if (resource.methods.remove) path["delete"] = OperationOf("Removes the resource");
    for (const auto& [target, action] : World::ActionsIn(*resource.json, id++)) {
      paths[target]["post"] = OperationOf(action.name);
    }
  }
  const std::string version = redfish::TextAt(world.capture().service_root(), "RedfishVersion");
  return Serialise({{"openapi", "3.0.1"},
                    {"info", {{"title", "Redfish service"}, {"version", version}}},
                    {"paths", std::move(paths)}});
}

}  // namespace shoal::mockserver
