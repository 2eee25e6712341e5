// SPDX-License-Identifier: Apache-2.0
// What an operation may change: how many requests, on which URIs, by which methods.
//
// The permissions are checked twice: for the whole plan before anybody is asked, and again for each
// request right before it is sent. Not thread-safe.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mockserver/messages/glob.h"
#include "operate/step.h"
#include "platform/runtime/status.h"

namespace shoal::operate {

// The methods of requests that may change something.
inline const std::set<std::string> kChangingMethods = {"POST", "PATCH", "PUT", "DELETE"};

struct Permissions {
  // The most requests that may be sent, repetitions included. 0 permits none; negative means as
  // many as were announced, and kRepetitions for each.
  std::int64_t budget = -1;
  // The paths that may be written; empty means those of the announced steps.
  std::vector<mockserver::Glob> uris = {};
  // The methods that may be used; empty means any.
  std::set<std::string> methods = {};

  // Adds patterns to `uris`. INVALID_ARGUMENT naming `what` and the pattern that is none.
  absl::Status AllowUris(std::span<const std::string> patterns, std::string_view what);
  // PERMISSION_DENIED naming the first step, or the number of steps, that is not permitted.
  absl::Status Check(std::span<const Step> steps) const;
  absl::Status CheckRequest(std::string_view method, std::string_view uri) const;
};

// How often one announced request may be sent again after an answer that was lost or a busy host.
inline constexpr std::int64_t kRepetitions = 10;

// The budget of one operation, or of a fleet of them.
class Budget {
 public:
  explicit Budget(std::int64_t requests) : left_(requests) {}
  // Takes one request. PERMISSION_DENIED when there is none left.
  absl::Status Take();
  // Returns a request that was not sent after all.
  void GiveBack() { ++left_; }
  std::int64_t left() const { return left_; }

 private:
  std::int64_t left_;
};

}  // namespace shoal::operate
