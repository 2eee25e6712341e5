// SPDX-License-Identifier: Apache-2.0
#include "mockserver/behaviours/firmware.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mockserver/access/access.h"
#include "mockserver/behaviours/tasks.h"
#include "mockserver/messages/extended_info.h"
#include "mockserver/messages/multipart.h"
#include "mockserver/messages/request_body.h"
#include "mockserver/resources/apply_time.h"
#include "mockserver/resources/boot_queue.h"
#include "redfish/capture/uri.h"

namespace shoal::mockserver {
namespace {

constexpr const char* kVersion = "/Version";
constexpr const char* kTargets = "Targets";
constexpr const char* kTargetsPointer = "/Targets";
constexpr const char* kPushUri = "/MultipartHttpPushUri";
constexpr const char* kPushParameters = "UpdateParameters";
constexpr const char* kPushFile = "UpdateFile";
// Words that do not tell what an image is for.
constexpr std::array kCommonWords = {"firmware", "update", "image", "version"};

struct Update {
  std::vector<ResourceId> items;
  std::string version;
  std::optional<Response> refusal;
};

struct StagedUpdates {
  std::vector<Update> updates;
};

// A system or manager, and the property in which it gives its firmware version.
struct Device {
  ResourceId id = 0;
  const char* version = nullptr;
  bool boots = false;
};

std::vector<ResourceId> MembersAt(const Editor& editor, ResourceId id, const char* pointer) {
  const auto collection = editor.Linked(id, pointer);
  return collection ? editor.Members(*collection) : std::vector<ResourceId>();
}

std::vector<Device> Devices(const Editor& editor) {
  std::vector<Device> devices;
  const auto root = editor.Find(redfish::kServiceRoot);
  if (!root) return devices;
  for (const ResourceId system : MembersAt(editor, *root, "/Systems")) {
    devices.push_back({system, "/BiosVersion", true});
  }
  for (const ResourceId manager : MembersAt(editor, *root, "/Managers")) {
    devices.push_back({manager, "/FirmwareVersion", false});
  }
  return devices;
}

std::vector<ResourceId> Inventory(const Editor& editor, ResourceId service) {
  std::vector<ResourceId> items = MembersAt(editor, service, "/FirmwareInventory");
  for (const ResourceId item : MembersAt(editor, service, "/SoftwareInventory")) {
    if (std::find(items.begin(), items.end(), item) == items.end()) items.push_back(item);
  }
  return items;
}

// Returns the item that is the firmware of `device`.
std::optional<ResourceId> FirmwareOf(const Editor& editor, const std::vector<ResourceId>& inventory,
                                     const Device& device) {
  const auto bios = editor.Linked(device.id, "/Bios");
  const auto image = editor.Linked(bios.value_or(device.id), "/Links/ActiveSoftwareImage");
  if (image) return image;
  for (const ResourceId item : inventory) {
    const std::vector<ResourceId> related = editor.LinkedAll(item, "/RelatedItem");
    if (std::find(related.begin(), related.end(), device.id) != related.end()) return item;
  }
  const std::string version = editor.Text(device.id, device.version);
  const auto same = std::find_if(inventory.begin(), inventory.end(), [&](ResourceId item) {
    return !version.empty() && editor.Text(item, kVersion) == version;
  });
  return same == inventory.end() ? std::nullopt : std::optional(*same);
}

// Returns the device whose firmware `item` is.
std::optional<Device> DeviceOf(const Editor& editor, const std::vector<ResourceId>& inventory,
                               ResourceId item) {
  for (const Device& device : Devices(editor)) {
    if (FirmwareOf(editor, inventory, device) == item) return device;
  }
  return std::nullopt;
}

// Converts "http://host/dir/bios-1.1.bin?x" to "bios-1.1.bin".
std::string_view FileName(std::string_view uri) {
  uri = uri.substr(0, uri.find_first_of("?#"));
  return uri.substr(uri.rfind('/') + 1);
}

std::string VersionIn(std::string_view name) {
  const auto is_digit = [](char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); };
  std::string first;
  for (std::size_t i = 0; i < name.size();) {
    std::size_t end = i;
    while (end < name.size() &&
           (is_digit(name[end]) ||
            (end > i && name[end] == '.' && end + 1 < name.size() && is_digit(name[end + 1])))) {
      ++end;
    }
    const std::string number(name.substr(i, end - i));
    if (number.find('.') != std::string::npos) return number;
    if (first.empty()) first = number;
    i = end + 1;
  }
  return first;
}

std::vector<std::string> WordsIn(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (absl::ascii_isalnum(static_cast<unsigned char>(c))) {
      words.back() += absl::ascii_tolower(static_cast<unsigned char>(c));
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  std::erase_if(words, [](const std::string& word) {
    return word.size() < 2 || std::all_of(word.begin(), word.end(),
                                          [](unsigned char c) { return absl::ascii_isdigit(c); });
  });
  return words;
}

bool Has(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::optional<ResourceId> ItemNamedBy(const Editor& editor,
                                      const std::vector<ResourceId>& inventory,
                                      std::string_view name) {
  std::vector<std::string> words = WordsIn(name.substr(0, name.rfind('.')));
  std::erase_if(words, [](const std::string& word) {
    return std::find(kCommonWords.begin(), kCommonWords.end(), word) != kCommonWords.end();
  });
  for (const Device& device : Devices(editor)) {
    if (Has(words, device.boots ? "bios" : "bmc")) return FirmwareOf(editor, inventory, device);
  }
  for (const ResourceId item : inventory) {
    const std::vector<std::string> own =
        WordsIn(editor.Text(item, "/Id") + ' ' + editor.Text(item, "/Name"));
    const bool is_named = std::any_of(words.begin(), words.end(),
                                      [&own](const std::string& word) { return Has(own, word); });
    const Json* const updateable = editor.Read(item, "/Updateable");
    if (is_named && (updateable == nullptr || *updateable != Json(false))) return item;
  }
  return std::nullopt;
}

std::optional<ResourceId> ItemTargeted(const Editor& editor,
                                       const std::vector<ResourceId>& inventory,
                                       const Json& target) {
  const auto id = target.is_string() ? editor.Find(redfish::CanonicalUri(target.get<std::string>()))
                                     : std::nullopt;
  if (!id || editor.IsA(*id, "SoftwareInventory")) return id;
  for (const Device& device : Devices(editor)) {
    if (device.id == *id) return FirmwareOf(editor, inventory, device);
  }
  return std::nullopt;
}

// Returns the refusal of a value of Targets, which is a parameter of `action`, or a property when
// there is no action.
Response RefusedTarget(const std::string& action, const Json& value) {
  const std::string excerpt = Excerpt(value, kTargets);
  return action.empty()
             ? ErrorResponse(400, {ExtendedInfo("PropertyValueFormatError", {excerpt, kTargets},
                                                kTargetsPointer)})
             : ErrorResponse(400, "ActionParameterValueFormatError", {excerpt, kTargets, action});
}

Response RefusedItem(const std::string& action) {
  return action.empty()
             ? ErrorResponse(400, {ExtendedInfo("PropertyValueError", {kTargets}, kTargetsPointer)})
             : ErrorResponse(400, "ActionParameterValueError", {kTargets, action});
}

Update PlanUpdate(const Editor& editor, ResourceId service, std::string_view file_name,
                  const Json& targets, const std::string& action) {
  Update update;
  update.version = VersionIn(file_name);
  const std::vector<ResourceId> inventory = Inventory(editor, service);
  for (const Json& target : targets) {
    const auto item = ItemTargeted(editor, inventory, target);
    if (!item) {
      update.refusal = RefusedTarget(action, target);
      return update;
    }
    update.items.push_back(*item);
  }
  if (update.items.empty()) {
    if (const auto item = ItemNamedBy(editor, inventory, file_name)) update.items.push_back(*item);
  }
  for (const ResourceId item : update.items) {
    const Json* const updateable = editor.Read(item, "/Updateable");
    const bool is_fixed = updateable != nullptr && *updateable == Json(false);
    if (is_fixed) update.refusal = RefusedItem(action);
  }
  return update;
}

Update PlanSimpleUpdate(const Editor& editor, const Call& call) {
  const std::string& action = call.action->name;
  const auto image = call.body.find("ImageURI");
  Update update;
  if (image == call.body.end() || !image->is_string()) {
    update.refusal = ErrorResponse(400, "ActionParameterMissing", {action, "ImageURI"});
    return update;
  }
  const std::string uri = image->get<std::string>();
  const bool has_scheme = uri.find("://") != std::string::npos;
  if (!has_scheme && !call.body.contains("TransferProtocol")) {
    update.refusal = ErrorResponse(400, "ActionParameterValueFormatError",
                                   {Excerpt(*image, "ImageURI"), "ImageURI", action});
    return update;
  }
  return PlanUpdate(editor, call.resource, FileName(uri), call.body.value(kTargets, Json::array()),
                    action);
}

Response Install(Editor& editor, const std::vector<ResourceId>& inventory,
                 const std::vector<Update>& updates) {
  for (const Update& update : updates) {
    if (update.version.empty() || update.items.empty()) {
      return GeneralErrorResponse(400, "The image fits no firmware of this service.");
    }
  }
  for (const Update& update : updates) {
    for (const ResourceId item : update.items) {
      const auto device = DeviceOf(editor, inventory, item);
      editor.Set(item, kVersion, update.version);
      if (device) editor.SetPresent(device->id, device->version, update.version);
    }
  }
  return Done(editor);
}

Response StartInstall(Editor& editor, ResourceId service, std::vector<Update> updates,
                      bool on_reset, Json payload) {
  const std::vector<ResourceId> inventory = Inventory(editor, service);
  std::optional<ResourceId> system;
  for (const Update& update : updates) {
    // An update that will fail does not wait for a boot.
    if (update.version.empty()) continue;
    for (const ResourceId item : update.items) {
      const auto device = DeviceOf(editor, inventory, item);
      if (device && device->boots) system = device->id;
    }
  }
  if (!system && on_reset) system = SystemOf(editor, service);
  return StartTask(editor,
                   {.name = "Firmware update",
                    .complete = [inventory, updates = std::move(updates)](
                                    Editor& later) { return Install(later, inventory, updates); },
                    .awaits_boot_of = system,
                    .payload = std::move(payload)});
}

Response StageOrStart(Editor& editor, ResourceId service, Update update, ApplyTime when,
                      Json payload) {
  if (when == ApplyTime::kOnStartUpdateRequest) {
    std::vector<Update>& staged = editor.Notes<StagedUpdates>().updates;
    if (staged.size() >= kMaximumStaged) {
      return ErrorResponse(503, "CreateLimitReachedForResource");
    }
    staged.push_back(std::move(update));
    return Done(editor);
  }
  return StartInstall(editor, service, {std::move(update)}, when == ApplyTime::kOnReset,
                      std::move(payload));
}

Response SimpleUpdate(Editor& editor, const Call& call) {
  const ApplyTimeChoice when =
      OperationApplyTime(call.body, editor.Read(call.resource, call.action->pointer));
  if (when.refusal.has_value()) return *when.refusal;
  Update update = PlanSimpleUpdate(editor, call);
  if (update.refusal.has_value()) return *update.refusal;
  return StageOrStart(editor, call.resource, std::move(update), when.time, PayloadOf(editor, call));
}

Response StartUpdate(Editor& editor, const Call& call) {
  std::vector<Update> staged = std::exchange(editor.Notes<StagedUpdates>().updates, {});
  if (staged.empty()) return ErrorResponse(400, "NoOperation");
  return StartInstall(editor, call.resource, std::move(staged), false, PayloadOf(editor, call));
}

std::optional<ResourceId> UpdateService(const Editor& editor) {
  const auto root = editor.Find(redfish::kServiceRoot);
  return root ? editor.Linked(*root, "/UpdateService") : std::nullopt;
}

Response MalformedPart(const char* name) {
  return ErrorResponse(
      400, {ExtendedInfo("MissingOrMalformedPart", {}, redfish::AppendPointer("", name))});
}

// Returns null when there is no such part.
const FormPart* FindPart(const std::vector<FormPart>& parts, std::string_view name) {
  const auto found = std::find_if(parts.begin(), parts.end(),
                                  [name](const FormPart& part) { return part.name == name; });
  return found == parts.end() ? nullptr : &*found;
}

// Returns a message about what is wrong with the parameters of a push, or nothing.
std::optional<Json> JudgePushParameters(const Json& parameters) {
  for (const auto& [name, value] : parameters.items()) {
    const std::string pointer = redfish::AppendPointer("", name);
    const bool is_list = name == kTargets || name == "ExcludeTargets";
    const bool is_flag = name == "ForceUpdate" || name == "Stage" || name == "LocalImage" ||
                         name == "EraseConfigurations";
    if (!is_list && !is_flag) {
      if (name == "Oem" || name.find('@') != std::string::npos) continue;
      return ExtendedInfo("PropertyUnknown", {name}, pointer);
    }
    const bool fits = is_flag ? value.is_boolean()
                              : value.is_array() &&
                                    std::all_of(value.begin(), value.end(), [](const Json& target) {
                                      return target.is_string();
                                    });
    if (!fits) return ExtendedInfo("PropertyValueTypeError", {Excerpt(value, name), name}, pointer);
  }
  return std::nullopt;
}

ApplyTimeChoice PushApplyTime(const Editor& editor, ResourceId service, Json parameters) {
  if (const Json* const own =
          editor.Read(service, std::string(kPushUri) + "@Redfish.OperationApplyTimeSupport")) {
    const Json support = {{"@Redfish.OperationApplyTimeSupport", *own}};
    return OperationApplyTime(parameters, &support);
  }
  const Json* const action = editor.Read(service, "/Actions/#UpdateService.SimpleUpdate");
  if (action != nullptr && action->contains("@Redfish.OperationApplyTimeSupport")) {
    return OperationApplyTime(parameters, action);
  }
  const std::string standing =
      editor.Text(service, "/HttpPushUriOptions/HttpPushUriApplyTime/ApplyTime");
  if (standing == "OnReset" && !parameters.contains("@Redfish.OperationApplyTime")) {
    parameters["@Redfish.OperationApplyTime"] = standing;
  }
  const Json support = {
      {"@Redfish.OperationApplyTimeSupport", {{"SupportedValues", {"Immediate", "OnReset"}}}}};
  return OperationApplyTime(parameters, &support);
}

Response PushUpdate(Editor& editor, ResourceId service, const Request& request) {
  const auto parts = ParseMultipart(request.content_type, request.body);
  if (!parts.ok()) return ErrorResponse(400, "MissingOrMalformedPart");
  const FormPart* const given = FindPart(*parts, kPushParameters);
  if (given == nullptr) return MalformedPart(kPushParameters);
  const FormPart* const file = FindPart(*parts, kPushFile);
  const bool is_file = file != nullptr && file->file_name.has_value() &&
                       !file->file_name->empty() && !file->content.empty();
  if (!is_file) return MalformedPart(kPushFile);
  const RequestBody parameters = ParseRequestBody(given->content);
  if (!parameters.object.has_value()) return parameters.refusal;
  if (auto wrong = JudgePushParameters(*parameters.object)) {
    return ErrorResponse(400, {*std::move(wrong)});
  }
  const auto most = editor.Integer(service, "/MaxImageSizeBytes");
  if (most && *most > 0 && file->content.size() > static_cast<std::uint64_t>(*most)) {
    return ErrorResponse(413, "PayloadTooLarge");
  }
  const ApplyTimeChoice when = PushApplyTime(editor, service, *parameters.object);
  if (when.refusal.has_value()) return *when.refusal;
  Update update = PlanUpdate(editor, service, FileName(*file->file_name),
                             parameters.object->value(kTargets, Json::array()), "");
  if (update.refusal.has_value()) return *update.refusal;
  return StageOrStart(editor, service, std::move(update), when.time, nullptr);
}

std::optional<Response> AnswerPush(Editor& editor, const Request& request,
                                   const Principal* principal, std::string_view uri) {
  if (!IsPushUri(editor, uri)) return std::nullopt;
  const ResourceId service = *UpdateService(editor);
  if (request.method == Method::kOptions) return Response{.status = 204, .allow = "POST"};
  if (request.method != Method::kPost) {
    Response response = ErrorResponse(405, "OperationNotAllowed");
    response.allow = "POST";
    return response;
  }
  auto refusal = Forbid(editor, principal, Method::kPost, service, nullptr);
  return refusal ? std::move(refusal) : PushUpdate(editor, service, request);
}

}  // namespace

bool IsPushUri(const Editor& editor, std::string_view uri) {
  const auto service = UpdateService(editor);
  const std::string pushed_to = service ? editor.Text(*service, kPushUri) : std::string();
  return !pushed_to.empty() && redfish::CanonicalUri(pushed_to) == uri;
}

void AddFirmware(HandlerTable& handlers) {
  handlers.OnElsewhere(&AnswerPush);
  handlers.OnAction("UpdateService.SimpleUpdate", &SimpleUpdate);
  handlers.OnAction("UpdateService.StartUpdate", &StartUpdate);
}

}  // namespace shoal::mockserver
