// SPDX-License-Identifier: Apache-2.0
#include "redfish/schema/base_messages.h"

#include <algorithm>

#include "redfish/schema/base_message_table.h"

namespace shoal::redfish {

static_assert(std::ranges::is_sorted(kBaseMessages, {}, &MessageDefinition::id));

const MessageDefinition* FindBaseMessage(std::string_view id) {
  const auto* const found = std::ranges::lower_bound(kBaseMessages, id, {}, &MessageDefinition::id);
  return found != std::end(kBaseMessages) && found->id == id ? found : nullptr;
}

std::span<const MessageDefinition> BaseMessages() { return kBaseMessages; }

std::string_view BaseRegistry() { return kBaseRegistry; }

}  // namespace shoal::redfish
