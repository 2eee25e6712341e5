// SPDX-License-Identifier: Apache-2.0
#include "operate/shortening.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "operate/comparison.h"
#include "redfish/capture/uri.h"

namespace shoal::operate {
namespace {

// Returns the steps without one of them; nothing when a later step is sent as the session that it
// made.
std::optional<std::vector<Step>> Without(const std::vector<Step>& steps, std::size_t left_out) {
  std::vector<Step> fewer;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (i == left_out) continue;
    fewer.push_back(steps[i]);
    std::optional<std::size_t>& session = fewer.back().session;
    if (session == left_out) return std::nullopt;
    if (session && *session > left_out) --*session;
  }
  return fewer;
}

// Starts the twin over and sends the requests of `steps`, each after the work of the one before is
// done. Resources that steps made may have other URIs than before; later requests follow them.
absl::Status Replay(std::span<const Step> steps, Twin& twin) {
  SHOAL_RETURN_IF_ERROR(twin.StartOver());
  MadeUris made;
  std::vector<std::string> tokens;
  for (const Step& step : steps) {
    const bool has_token = step.session && *step.session < tokens.size();
    const redfish::PlanReply reply = twin.Send({.method = step.method,
                                                .uri = OnHost(made, step.uri),
                                                .body = OnHost(made, step.body),
                                                .token = has_token ? tokens[*step.session] : ""});
    tokens.push_back(reply.token);
    if (!step.location.empty() && !reply.location.empty()) {
      made[step.location] = redfish::CanonicalUri(reply.location);
    }
    twin.Wait(kSettles);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<Step>> Shorten(std::vector<Step> steps, const redfish::Predicate& wanted,
                                          Twin& twin) {
  for (std::size_t i = steps.size(); i-- > 0;) {
    std::optional<std::vector<Step>> fewer = Without(steps, i);
    if (!fewer) continue;
    SHOAL_RETURN_IF_ERROR(Replay(*fewer, twin));
    if (wanted.Evaluate(twin)) steps = *std::move(fewer);
  }
  SHOAL_RETURN_IF_ERROR(Replay(steps, twin));
  if (wanted.Evaluate(twin)) return steps;
  return runtime::FailedPrecondition("sent once more, the requests do not reach the goal");
}

}  // namespace shoal::operate
