// SPDX-License-Identifier: Apache-2.0
#include "operate/permissions.h"

#include <algorithm>

namespace shoal::operate {

absl::Status Permissions::AllowUris(std::span<const std::string> patterns, std::string_view what) {
  for (const std::string& pattern : patterns) {
    auto glob = mockserver::Glob::Parse(pattern);
    if (!glob.ok()) return runtime::Annotate(glob.status(), std::string(what) + " " + pattern);
    uris.push_back(*std::move(glob));
  }
  return absl::OkStatus();
}

absl::Status Permissions::CheckRequest(std::string_view method, std::string_view uri) const {
  const std::string text = std::string(method) + " " + std::string(uri);
  if (!methods.empty() && !methods.contains(std::string(method))) {
    return absl::PermissionDeniedError(text + " is not permitted: its method is not named");
  }
  const bool is_allowed =
      uris.empty() || std::any_of(uris.begin(), uris.end(), [&](const mockserver::Glob& glob) {
        return glob.Match(uri).has_value();
      });
  if (!is_allowed) {
    return absl::PermissionDeniedError(text + " is not permitted: no allowed pattern fits");
  }
  return absl::OkStatus();
}

absl::Status Permissions::Check(std::span<const Step> steps) const {
  for (const Step& step : steps) SHOAL_RETURN_IF_ERROR(CheckRequest(step.method, step.uri));
  const auto count = static_cast<std::int64_t>(steps.size());
  if (budget >= 0 && count > budget) {
    return absl::PermissionDeniedError("the plan needs " + std::to_string(count) +
                                       " requests, and the budget is " + std::to_string(budget));
  }
  return absl::OkStatus();
}

absl::Status Budget::Take() {
  if (left_ <= 0) return absl::PermissionDeniedError("the budget of requests is spent");
  --left_;
  return absl::OkStatus();
}

}  // namespace shoal::operate
