// SPDX-License-Identifier: Apache-2.0
// JSON as text, written faster than by the library's own dump. A service writes a resource anew
// whenever one of its properties has changed.
#pragma once

#include <string>

#include "mockserver/messages/message.h"

namespace shoal::mockserver {

// Appends the same bytes that dump(-1, ' ', false, replace) writes: compact, with UTF-8 unescaped
// and invalid UTF-8 replaced.
void AppendText(std::string& text, const Json& json);
// Appends one member of an object as "name":value.
void AppendMember(std::string& text, const std::string& name, const Json& value);

}  // namespace shoal::mockserver
