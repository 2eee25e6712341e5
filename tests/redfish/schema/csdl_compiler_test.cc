// SPDX-License-Identifier: Apache-2.0
#include "redfish/schema/tool/csdl_compiler.h"

#include <catch2/catch.hpp>
#include <string>

namespace shoal::redfish {
namespace {

constexpr const char* kDocument = R"(<?xml version="1.0"?>
<edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0">
  <edmx:DataServices>
    <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="Lamp">
      <EntityType Name="Lamp" BaseType="Resource.v1_0_0.Resource" Abstract="true">
        <Annotation Term="Capabilities.UpdateRestrictions">
          <Record><PropertyValue Property="Updatable" Bool="true"/></Record>
        </Annotation>
      </EntityType>
      <Action Name="Blink" IsBound="true">
        <Parameter Name="Lamp" Type="Lamp.v1_0_0.Actions"/>
        <Parameter Name="Times" Type="Edm.Int64" Nullable="false"/>
      </Action>
      <EnumType Name="Color"><Member Name="Red"/><Member Name="Green"/></EnumType>
    </Schema>
    <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="Lamp.v1_2_0">
      <EntityType Name="Lamp" BaseType="Lamp.v1_0_0.Lamp">
        <Property Name="Hue" Type="Lamp.Color">
          <Annotation Term="OData.Permissions" EnumMember="OData.Permission/ReadWrite"/>
        </Property>
        <Property Name="Code" Type="Edm.String">
          <Annotation Term="OData.Permissions" EnumMember="OData.Permission/Write"/>
          <Annotation Term="Redfish.RequiredOnCreate"/>
        </Property>
        <Property Name="Hint" Type="Edm.String">
          <Annotation Term="OData.LongDescription"
              String="If `Shy` is `true`, the value shall be `null` in responses."/>
          <Annotation Term="Redfish.Excerpt" String="Light,Dark"/>
        </Property>
        <NavigationProperty Name="Socket" Type="Socket.Socket">
          <Annotation Term="Redfish.ExcerptCopy"/>
        </NavigationProperty>
      </EntityType>
    </Schema>
  </edmx:DataServices>
</edmx:Edmx>)";

TEST_CASE("All versions of a type are one entry, and a property says when it came") {
  CsdlCompiler compiler;
  REQUIRE(compiler.Add("Lamp_v1.xml", kDocument).ok());
  const nlohmann::json table = compiler.Table();
  const nlohmann::json& lamp = table.at("types").at("Lamp.Lamp");
  REQUIRE(lamp.at("methods") == "u");
  REQUIRE(lamp.at("base") == "Resource.Resource");
  REQUIRE(lamp.at("properties").at("Hue").at("s") == nlohmann::json::array({1, 2}));
  REQUIRE(lamp.at("properties").at("Hue").at("w") == 1);
  REQUIRE(table.at("enumerations").at("Lamp.Color") == nlohmann::json::array({"Red", "Green"}));
  const nlohmann::json& parameters = table.at("actions").at("Lamp.Blink");
  REQUIRE(parameters.size() == 1);
  REQUIRE(parameters[0].at("name") == "Times");
  REQUIRE(parameters[0].at("r") == 1);
}

TEST_CASE("Secrets, creation and excerpts come from annotations") {
  CsdlCompiler compiler;
  REQUIRE(compiler.Add("Lamp_v1.xml", kDocument).ok());
  const nlohmann::json table = compiler.Table();
  const nlohmann::json& properties = table.at("types").at("Lamp.Lamp").at("properties");
  REQUIRE(properties.at("Code").at("wo") == 1);
  REQUIRE(properties.at("Code").at("w") == 1);
  REQUIRE(properties.at("Code").at("rc") == 1);
  REQUIRE_FALSE(properties.at("Hint").contains("wo"));
  REQUIRE_FALSE(properties.at("Hint").contains("rc"));
  REQUIRE(properties.at("Hint").at("x") == nlohmann::json::array({"Light", "Dark"}));
  REQUIRE(properties.at("Socket").at("to") == "Socket.Socket");
  REQUIRE(properties.at("Socket").at("xc") == "");
  REQUIRE_FALSE(properties.at("Hue").contains("x"));
}

TEST_CASE("What is no CSDL is refused by file name") {
  CsdlCompiler compiler;
  const absl::Status status = compiler.Add("Odd_v1.xml", "<a><b/></a>");
  REQUIRE(status.code() == absl::StatusCode::kInvalidArgument);
  REQUIRE(std::string(status.message()).find("Odd_v1.xml") != std::string::npos);
  REQUIRE_FALSE(compiler.Add("Cut_v1.xml", "<a><b").ok());
}

}  // namespace
}  // namespace shoal::redfish
