// SPDX-License-Identifier: Apache-2.0
// JSON as text, faster than by the library's own dump: a service writes a resource anew whenever
// one of its properties has changed.
#pragma once

#include <string>

#include "mockserver/messages/message.h"

namespace shoal::mockserver {

// The same bytes that dump(-1, ' ', false, replace) writes: compact, UTF-8 as it is, what is no
// UTF-8 replaced.
void AppendText(std::string& text, const Json& json);
// One member of an object: "name":value.
void AppendMember(std::string& text, const std::string& name, const Json& value);

}  // namespace shoal::mockserver
