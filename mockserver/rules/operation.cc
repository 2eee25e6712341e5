// SPDX-License-Identifier: Apache-2.0
#include "mockserver/rules/operation.h"

#include <algorithm>
#include <utility>

#include "mockserver/messages/json_object.h"
#include "redfish/capture/uri.h"

namespace shoal::mockserver {
namespace {

using Kind = Operation::Kind;

constexpr std::size_t kMaximumName = 128;

absl::Status ReadUri(const Json& body, const std::string& member, Operation& operation) {
  if (!body.contains(member)) return absl::OkStatus();
  SHOAL_ASSIGN_OR_RETURN(operation.uri, NeededText(body, member));
  return absl::OkStatus();
}

// Reads the pointer of a property. The whole resource is not a valid target, and a pointer takes no
// parts of a request.
absl::Status ReadPointer(const Json& body, Operation& operation) {
  SHOAL_ASSIGN_OR_RETURN(operation.pointer, NeededText(body, "pointer"));
  const std::string& pointer = operation.pointer;
  const bool is_pointer = pointer.starts_with('/') && pointer.size() > 1;
  if (is_pointer && pointer.find("${") == std::string::npos) return absl::OkStatus();
  return runtime::InvalidArgument("\"pointer\" is a JSON Pointer to a property");
}

absl::Status ReadObject(const Json& body, const std::string& member, Operation& operation) {
  const auto found = body.find(member);
  if (found == body.end() || !found->is_object()) {
    return runtime::InvalidArgument("\"" + member + "\" is an object");
  }
  operation.value = *found;
  return absl::OkStatus();
}

absl::Status ReadSet(const Json& body, Operation& operation) {
  operation.kind = Kind::kSet;
  SHOAL_RETURN_IF_ERROR(CheckMembers(body, {"uri", "pointer", "value"}));
  SHOAL_RETURN_IF_ERROR(ReadUri(body, "uri", operation));
  SHOAL_RETURN_IF_ERROR(ReadPointer(body, operation));
  const auto value = body.find("value");
  if (value == body.end()) return runtime::InvalidArgument("needs a \"value\"");
  operation.value = *value;
  return absl::OkStatus();
}

absl::Status ReadDelete(const Json& body, Operation& operation) {
  SHOAL_RETURN_IF_ERROR(CheckMembers(body, {"uri", "pointer"}));
  SHOAL_RETURN_IF_ERROR(ReadUri(body, "uri", operation));
  operation.kind = body.contains("pointer") ? Kind::kErase : Kind::kRemove;
  return operation.kind == Kind::kErase ? ReadPointer(body, operation) : absl::OkStatus();
}

absl::Status ReadCreate(const Json& body, Operation& operation) {
  operation.kind = Kind::kCreate;
  SHOAL_RETURN_IF_ERROR(CheckMembers(body, {"collection", "name", "json"}));
  SHOAL_RETURN_IF_ERROR(ReadUri(body, "collection", operation));
  if (body.contains("name")) {
    SHOAL_ASSIGN_OR_RETURN(operation.name, NeededText(body, "name"));
  }
  return ReadObject(body, "json", operation);
}

absl::Status ReadRecord(const Json& body, Operation& operation) {
  operation.kind = Kind::kRecord;
  SHOAL_RETURN_IF_ERROR(CheckMembers(body, {"uri", "kind", "detail"}));
  SHOAL_RETURN_IF_ERROR(ReadUri(body, "uri", operation));
  SHOAL_ASSIGN_OR_RETURN(operation.name, NeededText(body, "kind"));
  operation.value = Json::object();
  return body.contains("detail") ? ReadObject(body, "detail", operation) : absl::OkStatus();
}

absl::Status ReadOperation(const Json& json, Operation& operation) {
  if (!json.is_object() || json.size() != 1) {
    return runtime::InvalidArgument("an object with exactly one member expected");
  }
  const std::string& verb = json.begin().key();
  const Json& body = json.begin().value();
  absl::Status status = runtime::InvalidArgument("unknown operation");
  if (verb == "set") status = ReadSet(body, operation);
  if (verb == "delete") status = ReadDelete(body, operation);
  if (verb == "create") status = ReadCreate(body, operation);
  if (verb == "record") status = ReadRecord(body, operation);
  return runtime::Annotate(status, "\"" + verb + "\"");
}

// Returns whether `name` is one valid segment of a URI.
bool IsMemberName(std::string_view name) {
  return !name.empty() && name.size() <= kMaximumName &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return c > ' ' && c != '\x7f' &&
                  std::string_view("/?#%\\\"").find(c) == std::string_view::npos;
         });
}

// Returns whether Editor::Set can write at `pointer`.
bool Leads(const Json& json, std::string_view pointer) {
  if (redfish::Resolve(json, pointer) != nullptr) return true;
  const Json* above = nullptr;
  while (above == nullptr) {
    pointer = pointer.substr(0, pointer.rfind('/'));
    above = redfish::Resolve(json, pointer);
  }
  return above->is_object() || above->is_null();
}

std::string Target(const Operation& operation, std::string_view requested) {
  return operation.uri ? redfish::CanonicalUri(*operation.uri) : std::string(requested);
}

absl::Status JudgeOperation(const Editor& editor, const Operation& operation,
                            std::string_view requested) {
  const std::string uri = Target(operation, requested);
  const std::optional<ResourceId> id = editor.Find(uri);
  if (!id) return runtime::NotFound(uri);
  if (operation.kind == Kind::kSet && !Leads(editor.Read(*id), operation.pointer)) {
    return runtime::FailedPrecondition(operation.pointer + " leads nowhere in " + uri);
  }
  if (operation.kind != Kind::kCreate || operation.name.empty()) return absl::OkStatus();
  if (!IsMemberName(operation.name)) {
    return runtime::FailedPrecondition("\"" + operation.name + "\" is no name of a member");
  }
  if (!editor.Find(uri + '/' + operation.name)) return absl::OkStatus();
  return runtime::FailedPrecondition(uri + " has a member " + operation.name);
}

void Erase(Editor& editor, ResourceId id, const std::string& pointer) {
  if (editor.Read(id, pointer) == nullptr) return;
  const std::string above = pointer.substr(0, pointer.rfind('/'));
  Json rest = *editor.Read(id, above);
  const std::string last = redfish::PointerTokens(pointer).back();
  if (rest.is_array()) {
    rest.erase(static_cast<std::size_t>(std::stoul(last)));
  } else {
    rest.erase(last);
  }
  editor.Set(id, above, std::move(rest));
}

std::optional<ResourceId> CreateMember(Editor& editor, ResourceId collection,
                                       const Operation& operation) {
  const std::string name =
      operation.name.empty() ? editor.NewMemberName(collection) : operation.name;
  if (editor.Find(editor.Uri(collection) + '/' + name)) return std::nullopt;
  Json json = operation.value;
  if (!json.contains("Id")) json["Id"] = name;
  return editor.AddMember(collection, name, std::move(json));
}

std::optional<ResourceId> PerformOne(Editor& editor, const Operation& operation,
                                     std::string_view requested) {
  const std::optional<ResourceId> id = editor.Find(Target(operation, requested));
  if (!id) return std::nullopt;
  switch (operation.kind) {
    case Kind::kSet:
      editor.Set(*id, operation.pointer, operation.value);
      break;
    case Kind::kErase:
      Erase(editor, *id, operation.pointer);
      break;
    case Kind::kRemove:
      editor.RemoveMember(*id);
      break;
    case Kind::kCreate:
      return CreateMember(editor, *id, operation);
    case Kind::kRecord:
      editor.Record(operation.name, *id, operation.value);
      break;
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<std::vector<Operation>> ParseOperations(const Json& list) {
  if (!list.is_array() || list.size() > kMaximumOperations) {
    return runtime::InvalidArgument("an array of at most " + std::to_string(kMaximumOperations) +
                                    " operations expected");
  }
  std::vector<Operation> operations(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    SHOAL_RETURN_IF_ERROR(
        runtime::Annotate(ReadOperation(list[i], operations[i]), "[" + std::to_string(i) + "]"));
  }
  return operations;
}

std::vector<Operation> FillParts(const std::vector<Operation>& operations,
                                 const RequestParts& parts) {
  std::vector<Operation> filled = operations;
  for (Operation& operation : filled) {
    if (operation.uri) operation.uri = FillParts(*operation.uri, parts);
    operation.name = FillParts(operation.name, parts);
    operation.value = FillParts(operation.value, parts);
  }
  return filled;
}

absl::StatusOr<std::optional<ResourceId>> Perform(Editor& editor,
                                                  const std::vector<Operation>& operations,
                                                  std::string_view requested) {
  for (const Operation& operation : operations) {
    SHOAL_RETURN_IF_ERROR(JudgeOperation(editor, operation, requested));
  }
  std::optional<ResourceId> created;
  for (const Operation& operation : operations) {
    const std::optional<ResourceId> made = PerformOne(editor, operation, requested);
    if (!created) created = made;
  }
  return created;
}

}  // namespace shoal::mockserver
