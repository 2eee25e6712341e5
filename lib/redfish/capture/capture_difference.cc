// SPDX-License-Identifier: Apache-2.0
#include "redfish/capture/capture_difference.h"

#include <utility>

#include "platform/content/canonical_json.h"
#include "redfish/capture/uri.h"

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;

class Comparison {
 public:
  explicit Comparison(bool ignore_volatile) : ignore_volatile_(ignore_volatile) {}

  void Visit(const std::string& pointer, const Json& before, const Json& after) {
    if (before.is_object() && after.is_object()) return VisitObjects(pointer, before, after);
    if (before.is_array() && after.is_array() && before.size() == after.size()) {
      for (std::size_t i = 0; i < before.size(); ++i) {
        Visit(AppendPointer(pointer, std::to_string(i)), before[i], after[i]);
      }
    } else if (before != after) {
      changes_.push_back({pointer, &before, &after});
    }
  }
  std::vector<PropertyChange> Take() { return std::move(changes_); }

 private:
  void VisitObjects(const std::string& pointer, const Json& before, const Json& after) {
    for (const auto& [name, value] : before.items()) {
      if (Ignores(name)) continue;
      const auto other = after.find(name);
      if (other == after.end()) {
        changes_.push_back({AppendPointer(pointer, name), &value, nullptr});
      } else {
        Visit(AppendPointer(pointer, name), value, *other);
      }
    }
    for (const auto& [name, value] : after.items()) {
      if (Ignores(name) || before.contains(name)) continue;
      changes_.push_back({AppendPointer(pointer, name), nullptr, &value});
    }
  }
  bool Ignores(const std::string& name) const {
    return ignore_volatile_ && content::DefaultVolatileNames().contains(name);
  }

  const bool ignore_volatile_;
  std::vector<PropertyChange> changes_;
};

}  // namespace

CaptureDifference Compare(const Capture& before, const Capture& after, bool ignore_volatile) {
  CaptureDifference difference;
  for (const auto& [uri, body] : before.resources()) {
    const Json* const other = after.Find(uri);
    if (other == nullptr) {
      difference.removed.push_back(uri);
      continue;
    }
    Comparison comparison(ignore_volatile);
    comparison.Visit("", body, *other);
    std::vector<PropertyChange> changes = comparison.Take();
    if (!changes.empty()) difference.changed.push_back({uri, std::move(changes)});
  }
  for (const auto& [uri, body] : after.resources()) {
    if (before.Find(uri) == nullptr) difference.added.push_back(uri);
  }
  return difference;
}

}  // namespace shoal::redfish
