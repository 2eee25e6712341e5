// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/refusal.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "redfish/capture/uri.h"

namespace shoal::actor {
namespace {

using Json = nlohmann::json;

void AddNames(const Json& message, const char* property, RefusalNames& names) {
  const auto list = message.find(property);
  if (list == message.end() || !list->is_array()) return;
  for (const Json& entry : *list) {
    if (!entry.is_string() || names.size() >= kMaximumRefusalNames) continue;
    const auto& text = entry.get_ref<const std::string&>();
    for (const std::string& name : {text, text.substr(text.rfind('/') + 1)}) {
      if (name.empty() || name.size() > kLongestRefusalName) continue;
      names.insert(absl::AsciiStrToLower(name));
    }
  }
}

bool HasProperty(const Json& body, const RefusalNames& names) {
  if (body.is_array()) {
    return std::any_of(body.begin(), body.end(),
                       [&names](const Json& member) { return HasProperty(member, names); });
  }
  if (!body.is_object()) return false;
  return std::any_of(body.items().begin(), body.items().end(), [&names](const auto& member) {
    return names.contains(absl::AsciiStrToLower(member.key())) ||
           HasProperty(member.value(), names);
  });
}

}  // namespace

RefusalNames NamesInRefusal(const Json& body) {
  RefusalNames names;
  const Json* const messages = redfish::Resolve(body, "/error/@Message.ExtendedInfo");
  if (messages == nullptr || !messages->is_array()) return names;
  for (const Json& message : *messages) {
    if (!message.is_object()) continue;
    AddNames(message, "MessageArgs", names);
    AddNames(message, "RelatedProperties", names);
  }
  return names;
}

bool HasPropertyOf(const redfish::Candidate& request, const RefusalNames& names) {
  if (!request.composes()) return HasProperty(request.body, names);
  return std::any_of(
      request.parts->begin(), request.parts->end(),
      [&names](const redfish::Candidate& part) { return HasProperty(part.body, names); });
}

}  // namespace shoal::actor
