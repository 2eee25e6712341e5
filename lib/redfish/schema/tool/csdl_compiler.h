// SPDX-License-Identifier: Apache-2.0
// Compiles CSDL documents into the compact table that Schema loads.
//
// All versions of a type become one entry, and each property says which version introduced it. The
// table's keys are in data/schema/README.md.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "platform/runtime/status.h"

namespace shoal::redfish {

class CsdlCompiler {
 public:
  // Adds one document. INVALID_ARGUMENT naming `file` when it is not CSDL.
  absl::Status Add(const std::string& file, std::string_view xml);

  // Returns the table of all added documents.
  nlohmann::json Table() const;

 private:
  nlohmann::json types_ = nlohmann::json::object();
  nlohmann::json enumerations_ = nlohmann::json::object();
  nlohmann::json definitions_ = nlohmann::json::object();
  nlohmann::json actions_ = nlohmann::json::object();
};

}  // namespace shoal::redfish
