// SPDX-License-Identifier: Apache-2.0
// Members of collections that come by POST and go by DELETE, where no behaviour of their own says
// otherwise: judged by the schema, kept as the client wrote them.
#pragma once

#include <string>

#include "mockserver/messages/message.h"
#include "mockserver/service/editor.h"

namespace shoal::mockserver {

// The type of a collection's members: as one of them has it, else as another of the service has it,
// else as the schema names it; empty when nothing tells.
std::string MemberType(const Editor& editor, ResourceId collection);

// 201 with the new member and its Location. 400 for what the schema does not take, 405 for a
// collection of a type that neither a member nor the schema tells. REQUIRES: `body` is an object.
Response PostMember(Editor& editor, ResourceId collection, const Json& body);

// Removes the member with all below it.
Response DeleteMember(Editor& editor, ResourceId member);

}  // namespace shoal::mockserver
