// SPDX-License-Identifier: Apache-2.0
// The part of the control API that teaches an instance: its rules, faults and external handlers.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "mockserver/messages/message.h"
#include "mockserver/process/instance_table.h"
#include "platform/http/message.h"
#include "platform/runtime/status.h"

namespace shoal::mockserver {

struct TeachingRequest {
  std::string_view method;
  // The path after the instance's id: "rules", "faults", "handlers", "handlers/<name>".
  std::string_view verb;
  const Json& body;
};

bool IsTeaching(std::string_view verb);

// REQUIRES: IsTeaching(request.verb). `hosts` are those, besides this machine, on which handlers
// may be.
http::ServerResponse HandleTeaching(const TeachingRequest& request,
                                    std::span<const std::string> hosts, InstanceTable::Slot& slot);

// The URL of an external handler: "http://host:port/path". The default port is 80.
struct ExternalUrl {
  // The format is that of http::ClientOptions.
  std::string address;
  std::string target;
};

// Returns INVALID_ARGUMENT when `url` does not have this form, has a user name or a fragment, or
// its host is neither this machine (localhost, 127.x.x.x, ::1) nor one of `hosts`.
absl::StatusOr<ExternalUrl> ParseExternalUrl(std::string_view url,
                                             std::span<const std::string> hosts);

}  // namespace shoal::mockserver
