// SPDX-License-Identifier: Apache-2.0
// The shipped captures and the schema table, loaded once for all cases.
#pragma once

#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>

#include "redfish/capture/capture.h"
#include "redfish/schema/schema.h"

namespace shoal::redfish {

inline constexpr const char* kShipped[] = {"dell-r750", "dmtf-rackmount1", "hpe-dl380a-gen12",
                                           "openbmc-stock"};
// DMTF's further mockups, which are parts of services. Some goals apply to them, too.
inline constexpr const char* kMockups[] = {"dmtf-acd", "dmtf-catfish",  "dmtf-liquid-cooled-server",
                                           "dmtf-mpf", "dmtf-smartnic", "dmtf-telemetry"};

inline std::string ArchiveOf(const std::string& name) {
  return "data/captures/" + name + ".tar.xz";
}

inline const Capture& Shipped(const std::string& name) {
  static std::map<std::string, std::shared_ptr<const Capture>> loaded;
  auto& capture = loaded[name];
  if (capture == nullptr) {
    auto result = Capture::Load(ArchiveOf(name));
    REQUIRE(result.ok());
    capture = result.value();
  }
  return *capture;
}

inline const Schema& ShippedSchema() {
  static const auto schema = Schema::Load("data/schema/redfish.schema.zst");
  REQUIRE(schema.ok());
  return **schema;
}

}  // namespace shoal::redfish
