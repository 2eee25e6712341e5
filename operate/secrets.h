// SPDX-License-Identifier: Apache-2.0
// The secret values of an operation, which are printed and logged by name only.
//
// Hide replaces a secret value by "{its name}", so that a plan in the audit log can be carried out
// again by whoever knows the value. Other texts under the name of a secret become "REDACTED"
// (redfish/capture/redaction.h).
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "platform/runtime/status.h"

namespace shoal::operate {

class Secrets {
 public:
  Secrets() = default;
  // `values` maps names to secrets; empty ones are ignored.
  explicit Secrets(std::map<std::string, std::string> values);

  // Returns `json` without secrets. The texts below a `pointer` that names a secret are secret as
  // well; "" says nothing.
  nlohmann::json Hide(const nlohmann::json& json, std::string_view pointer = {}) const;
  // Returns `text` with each secret in it replaced by its name.
  std::string HideIn(std::string text) const;
  // Puts the secrets back. FAILED_PRECONDITION when a secret of `json` is unknown here.
  absl::StatusOr<nlohmann::json> Show(const nlohmann::json& json) const;

  const std::map<std::string, std::string>& values() const { return values_; }

  // Returns the secrets that HideIn has taken out of `text`, where it left `hidden`. Nothing, or
  // other ones, where what stands behind a secret also stands in it, unless it is the last one.
  static std::optional<Secrets> Recall(std::string_view hidden, std::string_view text);

 private:
  std::map<std::string, std::string> values_;
};

}  // namespace shoal::operate
