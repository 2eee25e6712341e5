// SPDX-License-Identifier: Apache-2.0
// What a service said to one request of a crawl, as it is kept: redacted, and without headers that
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
  // Null when the answer is no resource: not 200, or no JSON object.
  nlohmann::json body = {};
  std::int64_t redacted = 0;
  // A body that begins as an object and does not parse: cut off, it may be whole the next time.
  // Such an answer is not kept.
  bool is_damaged = false;

  nlohmann::json ToJson() const;
  // DATA_LOSS when `json` is none.
  static absl::StatusOr<Answer> FromJson(nlohmann::json json);
};

// `response` with its body judged, kept and redacted; `redaction` may be null.
Answer AnswerFrom(const Link& link, std::int64_t depth, const http::ClientResponse& response,
                  double milliseconds, const redfish::RedactionOptions* redaction);

}  // namespace shoal::discovery
