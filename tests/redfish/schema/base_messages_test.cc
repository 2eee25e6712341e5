// SPDX-License-Identifier: Apache-2.0
#include "redfish/schema/base_messages.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "redfish/capture/archive.h"

namespace shoal::redfish {
namespace {

nlohmann::json Registry() {
  const auto archive = ReadArchive("data/registries/registries.tar.xz", ".json");
  REQUIRE(archive.ok());
  for (const ArchiveFile& file : archive->files) {
    if (file.path.starts_with("Base.")) return nlohmann::json::parse(file.bytes);
  }
  FAIL("no Base registry");
  return {};
}

TEST_CASE("The compiled table says what the shipped registry says, message by message") {
  const nlohmann::json registry = Registry();
  const nlohmann::json& messages = registry.at("Messages");
  REQUIRE(BaseMessages().size() == messages.size());
  for (const auto& [id, message] : messages.items()) {
    const MessageDefinition* const found = FindBaseMessage(id);
    REQUIRE(found != nullptr);
    REQUIRE(found->id == id);
    REQUIRE(found->severity == message.at("MessageSeverity").get<std::string>());
    REQUIRE(found->text == message.at("Message").get<std::string>());
    REQUIRE(found->resolution == message.at("Resolution").get<std::string>());
    REQUIRE(found->argument_count == message.at("NumberOfArgs").get<std::size_t>());
  }
  const std::string version = registry.at("RegistryVersion");
  REQUIRE(BaseRegistry() == "Base." + version.substr(0, version.rfind('.')));
}

TEST_CASE("A name that the registry lacks finds no message") {
  REQUIRE(FindBaseMessage("") == nullptr);
  REQUIRE(FindBaseMessage("NoSuchMessage") == nullptr);
  REQUIRE(FindBaseMessage("zzz") == nullptr);
  REQUIRE(FindBaseMessage("Success ") == nullptr);
}

}  // namespace
}  // namespace shoal::redfish
