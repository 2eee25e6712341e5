// SPDX-License-Identifier: Apache-2.0
// A service state that a test sets up by hand.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "redfish/capture/capture.h"
#include "redfish/goals/predicate.h"

namespace shoal::redfish {

class FakeState : public StateView {
 public:
  FakeState() = default;
  // Starts as `capture`, which must outlive this object. Only edited resources are copied.
  explicit FakeState(const Capture& capture) : capture_(&capture) {}

  const nlohmann::json* Find(std::string_view uri) const override {
    const auto found = resources.find(uri);
    if (found != resources.end()) return &found->second;
    return capture_ == nullptr ? nullptr : capture_->Find(uri);
  }
  const std::vector<HistoryRecord>& history() const override { return records; }

  // Returns the state's own copy of the resource, for editing.
  nlohmann::json& Edit(const std::string& uri) {
    const auto found = resources.find(uri);
    if (found != resources.end()) return found->second;
    const nlohmann::json* body = Find(uri);
    return resources[uri] = body == nullptr ? nlohmann::json::object() : *body;
  }

  Capture::Resources resources;
  std::vector<HistoryRecord> records;

 private:
  const Capture* capture_ = nullptr;
};

}  // namespace shoal::redfish
