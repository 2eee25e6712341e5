// SPDX-License-Identifier: Apache-2.0
// Members of collections that are created by POST and removed by DELETE where no behaviour handles
// the request: the schema judges them, and they are kept as the client wrote them.
#pragma once

#include <string>

#include "mockserver/messages/message.h"
#include "mockserver/service/editor.h"

namespace shoal::mockserver {

// Returns the type of a collection's members: that of a present member, else that of a resource
// elsewhere in the service, else the one that the schema names. Empty when none of these is known.
std::string MemberType(const Editor& editor, ResourceId collection);

// Returns 201 with the new member and its Location, 400 for a body that the schema does not allow,
// and 405 for a collection whose MemberType is unknown. REQUIRES: `body` is an object.
Response PostMember(Editor& editor, ResourceId collection, const Json& body);

// Removes the member with everything below it.
Response DeleteMember(Editor& editor, ResourceId member);

}  // namespace shoal::mockserver
