// SPDX-License-Identifier: Apache-2.0
#include "mockserver/service/standard_documents.h"

#include <catch2/catch.hpp>
#include <string>

#include "redfish/capture/archive.h"
#include "tests/mockserver/service/documents.h"

namespace shoal::mockserver {
namespace {

TEST_CASE("Every document of the archives is hosted as it was published") {
  const StandardDocuments& documents = *TestDocuments();
  std::size_t hosted = 0;
  const auto compare = [&](const std::string& archive, const std::string& suffix,
                           const auto& uri_of, std::string_view content_type) {
    const redfish::Archive published = redfish::ReadArchive(archive, suffix).value();
    for (const redfish::ArchiveFile& file : published.files) {
      const Document document = documents.Find(uri_of(file.path));
      INFO(file.path);
      REQUIRE(document.bytes != nullptr);
      REQUIRE(*document.bytes == file.bytes);
      REQUIRE(document.content_type == content_type);
      ++hosted;
    }
  };
  const auto schema = [](const std::string& file) { return "/redfish/v1/Schemas/" + file; };
  const auto registry = [](const std::string& file) {
    return "/redfish/v1/Registries/" + file.substr(0, file.size() - 5) + "/" + file;
  };
  compare("data/schema/csdl.tar.xz", ".xml", schema, "application/xml");
  compare("data/schema/json-schema.tar.xz", ".json", schema, "application/json");
  compare("data/registries/registries.tar.xz", ".json", registry, "application/json");
  REQUIRE(hosted > 700);
  REQUIRE(hosted == documents.size());
}

TEST_CASE("The documents of a process take little memory") {
  REQUIRE(TestDocuments()->packed_bytes() < 4'000'000);
}

TEST_CASE("What is not hosted is not found") {
  for (const char* uri : {"", "/", "/redfish/v1/Schemas", "/redfish/v1/Schemas/",
                          "/redfish/v1/Schemas/../x", "/redfish/v1/Schemas/Contoso_v1.xml"}) {
    REQUIRE(TestDocuments()->Find(uri).bytes == nullptr);
    REQUIRE_FALSE(TestDocuments()->Has(uri));
  }
}

TEST_CASE("A type's schema is the newest of its name and major version") {
  const StandardDocuments& documents = *TestDocuments();
  const std::string old(documents.SchemaUri("#ComputerSystem.v1_1_0.ComputerSystem"));
  REQUIRE(old.starts_with("/redfish/v1/Schemas/ComputerSystem.v1_"));
  REQUIRE(documents.Has(old));
  REQUIRE(documents.SchemaUri("ComputerSystem.v1_1_0.ComputerSystem") == old);
  REQUIRE(documents.SchemaUri("#ChassisCollection.ChassisCollection") ==
          "/redfish/v1/Schemas/ChassisCollection.json");
  REQUIRE(documents.SchemaUri("#ComputerSystem.v2_0_0.ComputerSystem").empty());
  REQUIRE(documents.SchemaUri("#HpeiLO.v2_10_0.HpeiLO").empty());
  REQUIRE(documents.SchemaUri("#Compute.v1_0_0.Compute").empty());
  for (const char* odd : {"", "#", ".", "#.", "#..", "ComputerSystem", "#redfish-error.v1_0_2.x"}) {
    REQUIRE(documents.SchemaUri(odd).empty());
  }
}

TEST_CASE("A registry's file is the newest of its name and major version") {
  const StandardDocuments& documents = *TestDocuments();
  const std::string_view base = documents.RegistryUri("Base.1.5.0");
  REQUIRE(base.starts_with("/redfish/v1/Registries/Base.1."));
  REQUIRE(documents.Has(base));
  REQUIRE(documents.RegistryUri("Base.1.18") == base);
  REQUIRE(documents.RegistryUri("Base.9.0.0").empty());
  REQUIRE(documents.RegistryUri("OpenBMC.0.4.0").empty());
  REQUIRE_FALSE(documents.RegistryUri("Redfish_1.8.0_PrivilegeRegistry").empty());
  REQUIRE(documents.RegistryUri("Redfish_1.0.4_PrivilegeRegistry").empty());
}

TEST_CASE("Each resource's schema and each registry is listed once, with a file behind it") {
  const StandardDocuments& documents = *TestDocuments();
  REQUIRE(documents.schemas().size() > 250);
  REQUIRE(documents.registries().size() > 20);
  for (const auto* entries : {&documents.schemas(), &documents.registries()}) {
    const std::string* last = nullptr;
    for (const StandardDocuments::Entry& entry : *entries) {
      REQUIRE(documents.Has(entry.uri));
      REQUIRE(entry.versioned.starts_with(entry.name));
      if (last != nullptr) REQUIRE(*last < entry.name);
      last = &entry.name;
    }
  }
}

TEST_CASE("An archive of documents that is missing is named") {
  StandardDocumentsOptions options;
  options.registries = "/nowhere/registries.tar.xz";
  const absl::Status status = StandardDocuments::Load(options).status();
  REQUIRE(status.code() == absl::StatusCode::kNotFound);
  REQUIRE(std::string(status.message()).find(options.registries) != std::string::npos);
}

}  // namespace
}  // namespace shoal::mockserver
