// SPDX-License-Identifier: Apache-2.0
#include "mockserver/resources/members.h"

#include <string>
#include <utility>
#include <vector>

#include "mockserver/messages/extended_info.h"
#include "mockserver/messages/secrets.h"
#include "mockserver/resources/new_object.h"
#include "mockserver/service/handler.h"
#include "redfish/capture/uri.h"
#include "redfish/catalog/membership.h"
#include "redfish/schema/schema.h"

namespace shoal::mockserver {

std::string MemberType(const Editor& editor, ResourceId collection) {
  if (const auto member = editor.FirstMember(collection)) {
    return editor.resource(*member).odata_type;
  }
  return redfish::MemberType(editor.world().capture(), editor.world().schema(),
                             editor.Read(collection));
}

Response PostMember(Editor& editor, ResourceId collection, const Json& body) {
  const std::string type = MemberType(editor, collection);
  if (type.empty()) return ErrorResponse(405, "OperationNotAllowed");
  std::vector<Json> messages;
  for (Problem& problem : JudgeNewObject(editor.world().schema(), type, "", body)) {
    messages.push_back(std::move(problem.info));
  }
  for (const redfish::Property* property : editor.world().schema().Properties(type)) {
    const bool is_given = body.contains(property->name);
    if (property->required_on_create && !is_given) {
      messages.push_back(ExtendedInfo("PropertyMissing", {property->name},
                                      redfish::AppendPointer("", property->name)));
    }
  }
  if (!messages.empty()) return ErrorResponse(400, std::move(messages));
  const std::string name = editor.NewMemberName(collection);
  Json member = {{"@odata.type", type}, {"Id", name}, {"Name", name}};
  for (const auto& [property, value] : body.items()) {
    if (property.find('@') == std::string::npos) member[property] = value;
  }
  HideSecrets(editor.world().schema(), type, "", member);
  return Created(editor, editor.AddMember(collection, name, std::move(member)));
}

Response DeleteMember(Editor& editor, ResourceId member) {
  editor.RemoveMember(member);
  return Done(editor);
}

}  // namespace shoal::mockserver
