// SPDX-License-Identifier: Apache-2.0
// A service's answer to one request of a crawl, as it is stored: redacted, and without headers that
// are credentials.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "platform/http/message.h"
#include "platform/runtime/status.h"
#include "redfish/capture/manifest.h"
#include "redfish/capture/redaction.h"
#include "redfish/discovery/links.h"

namespace shoal::discovery {

struct Answer {
  Link link = {};
  std::int64_t depth = 0;
  redfish::ManifestEntry entry = {};
  // Null when the answer is no resource: its status is not 200, or its body is no JSON object.
  nlohmann::json body = {};
  std::int64_t redacted = 0;
  // Whether the body begins as an object and does not parse. It was cut off and may be complete the
  // next time, so such an answer is not stored.
  bool is_damaged = false;

  nlohmann::json ToJson() const;
  // Returns DATA_LOSS when `json` is no answer.
  static absl::StatusOr<Answer> FromJson(nlohmann::json json);
};

// Makes the answer from `response`, with its body parsed and redacted; `redaction` may be null.
Answer AnswerFrom(const Link& link, std::int64_t depth, const http::ClientResponse& response,
                  double milliseconds, const redfish::RedactionOptions* redaction);

}  // namespace shoal::discovery
