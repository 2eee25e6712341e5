// SPDX-License-Identifier: Apache-2.0
#include "mockserver/service/world_documents.h"

#include <catch2/catch.hpp>
#include <map>
#include <pugixml.hpp>
#include <set>
#include <string>

#include "mockserver/service/metadata.h"
#include "tests/mockserver/service/documents.h"

namespace shoal::mockserver {
namespace {

// Returns the hosted file of each namespace that a $metadata includes.
std::map<std::string, std::string> Included(const std::string& metadata) {
  pugi::xml_document document;
  REQUIRE(document.load_string(metadata.c_str()));
  std::map<std::string, std::string> files;
  const pugi::xml_node root = document.child("edmx:Edmx");
  REQUIRE(std::string(root.attribute("Version").as_string()) == "4.0");
  for (const pugi::xml_node& reference : root.children("edmx:Reference")) {
    REQUIRE(reference.child("edmx:Include"));
    for (const pugi::xml_node& include : reference.children("edmx:Include")) {
      const std::string name = include.attribute("Namespace").as_string();
      REQUIRE(files.emplace(name, reference.attribute("Uri").as_string()).second);
    }
  }
  return files;
}

std::map<std::string, std::string> IncludedOf(const std::string& capture) {
  const Document metadata = DocumentsOf(capture).Find(kMetadataUri);
  REQUIRE(metadata.bytes != nullptr);
  REQUIRE(metadata.content_type == "application/xml");
  return Included(*metadata.bytes);
}

Json JsonAt(const WorldDocuments& documents, const std::string& uri) {
  const Document document = documents.Find(uri);
  INFO(uri);
  REQUIRE(documents.Has(uri));
  REQUIRE(document.bytes != nullptr);
  REQUIRE(document.content_type == "application/json");
  return Json::parse(*document.bytes);
}

TEST_CASE("The metadata names every namespace that DMTF's own mockup uses") {
  const auto included = IncludedOf("dmtf-rackmount1");
  std::size_t named = 0;
  for (const World::Resource& resource : WorldOf("dmtf-rackmount1")->resources()) {
    const std::string& type = resource.odata_type;
    if (type.empty()) continue;
    INFO(resource.uri << " " << type);
    REQUIRE(included.contains(type.substr(1, type.rfind('.') - 1)));
    ++named;
  }
  REQUIRE(named > 200);
}

TEST_CASE("The metadata names the namespaces of every standard type in every capture") {
  for (const std::string& name : CaptureNames()) {
    const auto included = IncludedOf(name);
    const World& world = *WorldOf(name);
    for (const World::Resource& resource : world.resources()) {
      if (!world.schema().Knows(resource.odata_type)) continue;
      const std::string& type = resource.odata_type;
      INFO(name << " " << resource.uri << " " << type);
      REQUIRE(included.contains(type.substr(1, type.find('.') - 1)));
    }
  }
}

TEST_CASE(
    "The metadata refers to hosted files alone, and each defines what it is referred to for") {
  for (const std::string& name : CaptureNames()) {
    std::map<std::string, std::set<std::string>> defined;
    for (const auto& [space, uri] : IncludedOf(name)) {
      if (!defined.contains(uri)) {
        const Document file = DocumentsOf(name).Find(uri);
        INFO(uri);
        REQUIRE(file.bytes != nullptr);
        pugi::xml_document document;
        REQUIRE(document.load_string(file.bytes->c_str()));
        for (const auto& schema :
             document.child("edmx:Edmx").child("edmx:DataServices").children("Schema")) {
          defined[uri].insert(schema.attribute("Namespace").as_string());
        }
      }
      INFO(uri << " " << space);
      REQUIRE(defined[uri].contains(space));
    }
  }
}

TEST_CASE("A client that follows the metadata needs no schema file from elsewhere") {
  for (const std::string& name : CaptureNames()) {
    const auto included = IncludedOf(name);
    std::set<std::string> files;
    for (const auto& [space, uri] : included) files.insert(uri);
    for (const std::string& uri : files) {
      pugi::xml_document document;
      REQUIRE(document.load_string(DocumentsOf(name).Find(uri).bytes->c_str()));
      for (const auto& reference : document.child("edmx:Edmx").children("edmx:Reference")) {
        const std::string target = reference.attribute("Uri").as_string();
        // Swordfish is another standard, and every client knows OData's own vocabularies.
        if (target.find("redfish.dmtf.org/schemas/v1/") == std::string::npos) continue;
        for (const auto& include : reference.children("edmx:Include")) {
          INFO(uri << " " << target << " " << include.attribute("Namespace").as_string());
          REQUIRE(included.contains(include.attribute("Namespace").as_string()));
        }
      }
    }
  }
}

TEST_CASE("The metadata extends the standard's service, and speaks its vocabulary") {
  const Document metadata = DocumentsOf("openbmc-stock").Find(kMetadataUri);
  pugi::xml_document document;
  REQUIRE(document.load_string(metadata.bytes->c_str()));
  const pugi::xml_node root = document.child("edmx:Edmx");
  const pugi::xml_node container =
      root.child("edmx:DataServices").child("Schema").child("EntityContainer");
  REQUIRE(std::string(container.attribute("Extends").as_string()) ==
          "ServiceRoot.v1_0_0.ServiceContainer");
  const auto extensions = root.find_node([](const pugi::xml_node& node) {
    return std::string(node.attribute("Namespace").as_string()) == "RedfishExtensions.v1_0_0";
  });
  REQUIRE(std::string(extensions.attribute("Alias").as_string()) == "Redfish");
  REQUIRE(IncludedOf("openbmc-stock").contains("ServiceRoot.v1_0_0"));
}

TEST_CASE("An OEM's namespaces are in no metadata") {
  for (const auto& [space, uri] : IncludedOf("hpe-dl380a-gen12")) {
    REQUIRE_FALSE(space.starts_with("Hpe"));
  }
}

TEST_CASE("The service document lists what the service root links to") {
  for (const std::string& name : CaptureNames()) {
    const Json document = JsonAt(DocumentsOf(name), "/redfish/v1/odata");
    REQUIRE(document.at("@odata.context") == "/redfish/v1/$metadata");
    std::map<std::string, std::string> urls;
    for (const Json& entry : document.at("value")) {
      REQUIRE(entry.at("kind") == "Singleton");
      REQUIRE(urls.emplace(entry.at("name"), entry.at("url")).second);
    }
    REQUIRE(urls.at("Service") == "/redfish/v1/");
    REQUIRE(urls.at("Sessions") == "/redfish/v1/SessionService/Sessions");
    for (const auto& [property, value] : WorldOf(name)->capture().service_root().items()) {
      if (!value.is_object() || !value.contains("@odata.id")) continue;
      REQUIRE(urls.at(property) == redfish::LinkTarget(value));
    }
  }
}

TEST_CASE("A service without schema files lists the hosted ones, and every link leads somewhere") {
  const WorldDocuments& documents = DocumentsOf("dmtf-rackmount1");
  const Json collection = JsonAt(documents, "/redfish/v1/JsonSchemas");
  const Json& members = collection.at("Members");
  REQUIRE(collection.at("Members@odata.count") == members.size());
  REQUIRE(members.size() > 250);
  for (const Json& link : members) {
    const std::string uri = link.at("@odata.id");
    const Json member = JsonAt(documents, uri);
    REQUIRE(member.at("@odata.id") == uri);
    const Json& place = member.at("Location").at(0);
    const Json schema = JsonAt(documents, place.at("Uri"));
    // A schema that defines only complex types has a title that is not the name of a type.
    const std::string title = schema.at("title");
    REQUIRE(member.at("Schema").get<std::string>().starts_with(title));
  }
  REQUIRE(JsonAt(documents, "/redfish/v1/JsonSchemas/ComputerSystem").at("Id") == "ComputerSystem");
}

TEST_CASE("A service's own collections of files are left alone") {
  for (const char* name : {"openbmc-stock", "hpe-dl380a-gen12", "dell-r750"}) {
    REQUIRE(DocumentsOf(name).Find("/redfish/v1/JsonSchemas").bytes == nullptr);
    REQUIRE_FALSE(DocumentsOf(name).Has("/redfish/v1/JsonSchemas"));
    REQUIRE(DocumentsOf(name).Find("/redfish/v1/JsonSchemas/ComputerSystem").bytes == nullptr);
  }
  for (const std::string& name : CaptureNames()) {
    REQUIRE(DocumentsOf(name).Find("/redfish/v1/Registries").bytes == nullptr);
  }
}

TEST_CASE("A service without registries lists the hosted ones") {
  const auto capture = redfish::Capture::FromResources(
      "bare", {{"/redfish/v1", {{"@odata.type", "#ServiceRoot.v1_0_0.ServiceRoot"}}}});
  const auto world = World::Create(*capture, TestSchema()).value();
  const WorldDocuments documents(*world, TestDocuments());
  const Json collection = JsonAt(documents, "/redfish/v1/Registries");
  REQUIRE(collection.at("Members").size() == TestDocuments()->registries().size());
  bool has_base = false;
  for (const Json& link : collection.at("Members")) {
    const Json member = JsonAt(documents, link.at("@odata.id"));
    const Json registry = JsonAt(documents, member.at("Location").at(0).at("Uri"));
    const std::string named = member.at("Registry");
    REQUIRE(registry.at("Id").get<std::string>().starts_with(named));
    has_base = has_base || member.at("Registry") == "Base.1.22";
  }
  REQUIRE(has_base);
}

// Returns a service that names `file` as its Base registry and also has `own`.
std::shared_ptr<const World> NamingWorld(const std::string& file, const std::string& own) {
  redfish::Capture::Resources resources = WorldOf("openbmc-stock")->capture().resources();
  resources["/redfish/v1/Registries/Base"] = {{"Registry", "Base.1.5"},
                                              {"Location", {{{"Language", "en"}, {"Uri", file}}}}};
  if (!own.empty()) resources[own] = {{"Id", "Base.1.5.0"}};
  const auto capture = redfish::Capture::FromResources("naming", std::move(resources)).value();
  return World::Create(capture, TestSchema(), {}).value();
}

TEST_CASE("A file that a service names and lacks is served when it is the standard's") {
  const std::string named = "/redfish/v1/files/base.json";
  const WorldDocuments lacking(*NamingWorld(named, ""), TestDocuments());
  REQUIRE(JsonAt(lacking, named).at("RegistryPrefix") == "Base");
}

TEST_CASE("No file stands in for one that the service has, in other capitals maybe") {
  const std::string named = "/redfish/v1/files/base.json";
  for (const std::string& own : {named, std::string("/redfish/v1/Files/base.json")}) {
    const WorldDocuments having(*NamingWorld(named, own), TestDocuments());
    REQUIRE_FALSE(having.Has(named));
  }
  const std::string bios = "/redfish/v1/schemastore/en/bios.v1_2_3.json";
  REQUIRE_FALSE(DocumentsOf("hpe-dl380a-gen12").Has(bios));
  REQUIRE(DocumentsOf("hpe-dl380a-gen12").DescribedBy("#Bios.v1_2_3.Bios") ==
          "</redfish/v1/SchemaStore/en/bios.v1_2_3.json>; rel=describedby");
  REQUIRE_FALSE(DocumentsOf("dmtf-rackmount1").Has("/redfish/v1/Registries/Base.1.5.0.json"));
}

TEST_CASE("A file that a service names and nobody published stays absent") {
  const std::string named =
      "/redfish/v1/Registries/ManagerAttributeRegistry/ManagerAttributeRegistry.v1_0_0.json";
  REQUIRE(At(Instance(WorldOf("dell-r750")), "/redfish/v1/Registries/ManagerAttributeRegistry",
             "/Location/0/Uri") == named);
  REQUIRE_FALSE(WorldOf("dell-r750")->Find(named).has_value());
  REQUIRE_FALSE(DocumentsOf("dell-r750").Has(named));
}

TEST_CASE("A resource is described by its schema, an OEM's unknown one by none") {
  for (const std::string& name : CaptureNames()) {
    const World& world = *WorldOf(name);
    const WorldDocuments& documents = DocumentsOf(name);
    std::size_t described = 0;
    for (const World::Resource& resource : world.resources()) {
      const std::string link = documents.DescribedBy(resource.odata_type);
      INFO(name << " " << resource.odata_type << " " << link);
      if (link.empty()) {
        REQUIRE(TestDocuments()->SchemaUri(resource.odata_type).empty());
        continue;
      }
      const std::size_t end = link.find(">; rel=describedby");
      REQUIRE(end != std::string::npos);
      const std::string uri = link.substr(1, end - 1);
      const bool is_there = world.Find(uri).has_value() || documents.Find(uri).bytes != nullptr;
      REQUIRE(is_there);
      ++described;
    }
    REQUIRE(described > 200);
  }
  REQUIRE(DocumentsOf("openbmc-stock").DescribedBy("#HpeiLO.v2_10_0.HpeiLO").empty());
  REQUIRE(DocumentsOf("openbmc-stock").DescribedBy("").empty());
}

TEST_CASE("A service's own schema file for just this type describes it best") {
  REQUIRE(DocumentsOf("dell-r750").DescribedBy("#Chassis.v1_16_0.Chassis") ==
          "</redfish/v1/Schemas/Chassis.v1_16_0.json>; rel=describedby");
  REQUIRE(DocumentsOf("openbmc-stock").DescribedBy("#Chassis.v1_16_0.Chassis") ==
          "</redfish/v1/Schemas/Chassis.json>; rel=describedby");
}

TEST_CASE("Hosted files of the standard are found through every world") {
  for (const std::string& name : CaptureNames()) {
    REQUIRE(DocumentsOf(name).Find("/redfish/v1/Schemas/Chassis_v1.xml").bytes != nullptr);
    REQUIRE(DocumentsOf(name).Find("/redfish/v1/Schemas/NoSuch_v1.xml").bytes == nullptr);
    REQUIRE(DocumentsOf(name).Find("/redfish/v1/Systems").bytes == nullptr);
  }
}

}  // namespace
}  // namespace shoal::mockserver
