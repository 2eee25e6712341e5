// SPDX-License-Identifier: Apache-2.0
// A host as the conditions of a goal see it: resources are read, and what no resource tells comes
// from the twin.
//
// History is that of the twin, which holds once every step was carried out as there. Passwords of
// accounts are tried by a read under Basic authentication; those of a BIOS count as unknown. Not
// thread-safe.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "operate/host.h"
#include "platform/runtime/status.h"
#include "redfish/goals/predicate.h"

namespace shoal::operate {

class HostState final : public redfish::StateView {
 public:
  // Borrows both.
  HostState(Host& host, const std::vector<redfish::HistoryRecord>& history)
      : host_(host), history_(history) {}

  const nlohmann::json* Find(std::string_view uri) const override;
  const std::vector<redfish::HistoryRecord>& history() const override { return history_; }
  bool HasPassword(std::string_view uri, std::string_view name,
                   std::string_view password) const override;

  // The first read that failed; what was evaluated after it is worth nothing.
  const absl::Status& status() const { return status_; }
  // Whether a login was refused. It counts for the account's lockout, so it wants a pause before
  // the next one.
  bool is_refused() const { return is_refused_; }
  // Forgets what was read, and how logins ended.
  void Forget();

 private:
  Host& host_;
  const std::vector<redfish::HistoryRecord>& history_;
  mutable std::map<std::string, std::optional<nlohmann::json>, std::less<>> read_;
  // Whether one could log in, by the account's URI and the password: no look tries a login twice.
  mutable std::map<std::pair<std::string, std::string>, bool> logins_;
  mutable absl::Status status_;
  mutable bool is_refused_ = false;
};

// Returns the conjuncts of `predicate` that do not hold; empty when all hold. Errors are those of
// the host and of Predicate::Parse.
absl::StatusOr<std::vector<nlohmann::json>> Unmet(const nlohmann::json& predicate,
                                                  HostState& state);

}  // namespace shoal::operate
