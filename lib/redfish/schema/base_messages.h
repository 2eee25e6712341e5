// SPDX-License-Identifier: Apache-2.0
// DMTF's Base message registry, compiled in: the standard's messages about the outcome of a
// request.
//
// The build makes the table from data/registries. Constant, safe for any number of threads.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace shoal::redfish {

struct MessageDefinition {
  // For example "PropertyUnknown".
  std::string_view id;
  // "OK", "Warning" or "Critical".
  std::string_view severity;
  // The message with %1, %2, ... in place of its arguments.
  std::string_view text;
  std::string_view resolution;
  std::size_t argument_count = 0;
};

// Returns nullptr when the registry has no such message.
const MessageDefinition* FindBaseMessage(std::string_view id);

// Returns all messages by id.
std::span<const MessageDefinition> BaseMessages();

// Returns the beginning of every MessageId: registry, major and minor version, as in "Base.1.22".
std::string_view BaseRegistry();

}  // namespace shoal::redfish
