// SPDX-License-Identifier: Apache-2.0
// The part of the control API that saves an instance as it is and restores it.
#pragma once

#include <string_view>

#include "mockserver/instance/instance.h"
#include "mockserver/messages/message.h"
#include "platform/http/message.h"

namespace shoal::mockserver {

struct SavepointRequest {
  std::string_view method;
  // The path after the instance's id: "savepoint", "restore", "savepoints", "savepoints/<name>".
  std::string_view verb;
  const Json& body;
};

bool IsSavepoint(std::string_view verb);

// REQUIRES: IsSavepoint(request.verb).
http::ServerResponse HandleSavepoint(const SavepointRequest& request, Instance& instance);

}  // namespace shoal::mockserver
