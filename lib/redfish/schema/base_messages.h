// SPDX-License-Identifier: Apache-2.0
// The standard's words for what happened to a request: DMTF's Base message registry, compiled in.
//
// The build makes the table from data/registries. Constant, safe for any number of threads.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace shoal::redfish {

struct MessageDefinition {
  // "PropertyUnknown".
  std::string_view id;
  // "OK", "Warning" or "Critical".
  std::string_view severity;
  // With %1, %2, ... where arguments go.
  std::string_view text;
  std::string_view resolution;
  std::size_t argument_count = 0;
};

// nullptr when the registry has no such message.
const MessageDefinition* FindBaseMessage(std::string_view id);

// All of them, by id.
std::span<const MessageDefinition> BaseMessages();

// What a MessageId begins with: registry, major and minor version, as in "Base.1.22".
std::string_view BaseRegistry();

}  // namespace shoal::redfish
