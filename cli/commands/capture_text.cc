// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/capture_text.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "redfish/capture/uri.h"

namespace shoal::cli {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kLongestValue = 100;

std::string ValueText(const Json* value) {
  if (value == nullptr) return "(none)";
  std::string text = value->dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > kLongestValue) text.replace(kLongestValue, std::string::npos, "...");
  return text;
}

void AppendList(std::string& text, const char* what, const std::vector<std::string>& items,
                std::size_t listed) {
  for (std::size_t i = 0; i < std::min(items.size(), listed); ++i) {
    text += std::string(what) + " " + items[i] + "\n";
  }
  if (items.size() > listed) {
    text += std::string(what) + " ... and " + std::to_string(items.size() - listed) + " more\n";
  }
}

// Returns "ComputerSystem" for "#ComputerSystem.v1_16_0.ComputerSystem".
std::string TypeName(const Json& body) {
  const std::string type = redfish::TextAt(body, "@odata.type");
  if (type.empty()) return "(no type)";
  return type.substr(type.rfind('.') + 1);
}

}  // namespace

std::string TextOf(const redfish::CaptureCheck& check, std::size_t listed) {
  std::string text;
  AppendList(text, "fault:", check.faults, listed);
  AppendList(text, "dangling:", check.dangling, listed);
  text += check.faults.empty() ? "good" : "bad";
  text += " resources=" + std::to_string(check.resources) +
          " faults=" + std::to_string(check.faults.size()) +
          " dangling=" + std::to_string(check.dangling.size()) +
          " errors=" + std::to_string(check.error_bodies) +
          " manifest=" + (check.has_manifest ? "yes" : "no") + "\n";
  return text;
}

std::string TextOf(const redfish::CaptureDifference& difference, bool names_only) {
  std::string text;
  for (const std::string& uri : difference.removed) text += "- " + uri + "\n";
  for (const std::string& uri : difference.added) text += "+ " + uri + "\n";
  for (const redfish::ResourceChange& change : difference.changed) {
    text += "~ " + change.uri + "\n";
    if (names_only) continue;
    for (const redfish::PropertyChange& property : change.properties) {
      text += "    " + property.pointer + ": " + ValueText(property.before) + " -> " +
              ValueText(property.after) + "\n";
    }
  }
  return text + "added=" + std::to_string(difference.added.size()) +
         " removed=" + std::to_string(difference.removed.size()) +
         " changed=" + std::to_string(difference.changed.size()) + "\n";
}

std::string TextOf(const redfish::ImportedCapture& imported) {
  const redfish::Capture& capture = *imported.capture;
  std::map<std::string, int> counts;
  for (const auto& [uri, body] : capture.resources()) ++counts[TypeName(body)];
  std::vector<std::pair<std::string, int>> types(counts.begin(), counts.end());
  std::stable_sort(types.begin(), types.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text = "name " + capture.name() + "\nsource " + imported.manifest.source +
                     "\ndigest " + capture.digest() + "\n";
  if (!imported.manifest.finished.empty()) text += "finished " + imported.manifest.finished + "\n";
  for (const auto& [type, count] : types) text += std::to_string(count) + " " + type + "\n";
  return text + "resources=" + std::to_string(capture.resources().size()) +
         " types=" + std::to_string(types.size()) +
         " dangling=" + std::to_string(capture.dangling_count()) +
         " errors=" + std::to_string(capture.error_count()) + "\n";
}

}  // namespace shoal::cli
