// SPDX-License-Identifier: Apache-2.0
// A service state that a test sets up by hand.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "redfish/capture.h"
#include "redfish/predicate.h"

namespace shoal::redfish {

class FakeState : public StateView {
 public:
  FakeState() = default;
  explicit FakeState(const Capture& capture) : resources(capture.resources()) {}

  const nlohmann::json* Find(std::string_view uri) const override {
    const auto found = resources.find(uri);
    return found == resources.end() ? nullptr : &found->second;
  }
  const std::vector<HistoryRecord>& history() const override { return records; }

  Capture::Resources resources;
  std::vector<HistoryRecord> records;
};

}  // namespace shoal::redfish
