// SPDX-License-Identifier: Apache-2.0
// The part of the control API that teaches an instance: its rules, faults and external handlers.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "mockserver/messages/message.h"
#include "mockserver/process/instance_table.h"
#include "platform/http/message.h"

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

}  // namespace shoal::mockserver
