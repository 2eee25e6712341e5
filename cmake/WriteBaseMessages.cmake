# Writes the header that holds DMTF's Base message registry as a table, from the archive that ships it.
#   cmake -DARCHIVE=<registries.tar.xz> -DWORK=<folder> -DOUTPUT=<header> -P WriteBaseMessages.cmake
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE "${WORK}")
file(ARCHIVE_EXTRACT INPUT "${ARCHIVE}" DESTINATION "${WORK}" PATTERNS "Base.*.json")
file(GLOB registry "${WORK}/Base.*.json")
file(READ "${registry}" text)
string(JSON version GET "${text}" RegistryVersion)
string(REGEX MATCH "^[0-9]+\\.[0-9]+" version "${version}")
string(JSON messages GET "${text}" Messages)
string(JSON count LENGTH "${messages}")
math(EXPR last "${count} - 1")

set(rows "")
foreach(index RANGE ${last})
  string(JSON id MEMBER "${messages}" ${index})
  string(JSON message GET "${messages}" "${id}")
  string(JSON severity GET "${message}" MessageSeverity)
  string(JSON words GET "${message}" Message)
  string(JSON resolution GET "${message}" Resolution)
  string(JSON arguments GET "${message}" NumberOfArgs)
  string(APPEND rows
    "    {\"${id}\", \"${severity}\", R\"~(${words})~\", R\"~(${resolution})~\", ${arguments}},\n")
endforeach()

file(WRITE "${OUTPUT}"
"// SPDX-License-Identifier: Apache-2.0
// DMTF's Base message registry, by id.
#pragma once
#include \"redfish/schema/base_messages.h\"
namespace shoal::redfish {
inline constexpr std::string_view kBaseRegistry = \"Base.${version}\";
inline constexpr MessageDefinition kBaseMessages[] = {
${rows}};
}
")
