// SPDX-License-Identifier: Apache-2.0
// The keys of the compiled schema table (data/schema/README.md), shared by its compiler and its
// loader.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace shoal::redfish::format {

inline constexpr const char* kFormatKey = "format";
inline constexpr int kFormatVersion = 2;
inline constexpr const char* kTypes = "types";
inline constexpr const char* kEnumerations = "enumerations";
inline constexpr const char* kDefinitions = "definitions";
inline constexpr const char* kActions = "actions";

// The members of a type.
inline constexpr const char* kBase = "base";
inline constexpr const char* kMethods = "methods";
inline constexpr const char* kProperties = "properties";

// The members of a property or a parameter.
inline constexpr const char* kName = "name";
inline constexpr const char* kKind = "k";
inline constexpr const char* kFormat = "f";
inline constexpr const char* kType = "t";
inline constexpr const char* kElement = "e";
inline constexpr const char* kWritable = "w";
inline constexpr const char* kNotNull = "nn";
inline constexpr const char* kRequired = "r";
inline constexpr const char* kSince = "s";
inline constexpr const char* kMinimum = "min";
inline constexpr const char* kMaximum = "max";
inline constexpr const char* kPattern = "p";
inline constexpr const char* kRequiredOnCreate = "rc";
inline constexpr const char* kWriteOnly = "wo";
inline constexpr const char* kTarget = "to";
inline constexpr const char* kExcerpt = "x";
inline constexpr const char* kExcerptCopy = "xc";
inline constexpr const char* kCopyOnly = "xo";

// The parts of "ComputerSystem.v1_13_0.ComputerSystem".
struct TypeName {
  std::string space;  // "ComputerSystem"
  std::string key;    // "ComputerSystem.ComputerSystem"
  bool versioned = false;
  std::uint16_t major = 0;
  std::uint16_t minor = 0;
};

// Drops a leading '#'. `key` is empty for a name without a '.'.
TypeName ParseTypeName(std::string_view name);

}  // namespace shoal::redfish::format
