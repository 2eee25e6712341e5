// SPDX-License-Identifier: Apache-2.0
// Which requests a proxy forwards to the real host: reads below /redfish, and mutations that are
// allowed one by one.
//
//   ProxyRules::Parse({"POST /redfish/v1/Systems/*/Actions/ComputerSystem.Reset"})
//
// GET, HEAD and OPTIONS are reads. A path that a host could understand differently from the proxy
// ("..", "%2e%2e", "\", a double escape) is not forwarded. A mutation must moreover have no
// escapes, no query and no path parameters, in which some hosts look for another method. Immutable,
// and safe for any number of threads.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mockserver/messages/glob.h"
#include "mockserver/messages/message.h"
#include "platform/runtime/status.h"

namespace shoal::mockserver {

class ProxyRules {
 public:
  // Each text is a method (POST, PATCH, PUT or DELETE), a blank, and a glob (glob.h) below
  // /redfish. Only `*` is allowed as a wildcard, since `**` would allow more than one mutation.
  // INVALID_ARGUMENT naming the text that is wrong.
  static absl::StatusOr<ProxyRules> Parse(const std::vector<std::string>& allowed);

  // Returns the target to request from the host when a client asks for `target`: for a read the
  // target itself, for a mutation its canonical path. NOT_FOUND: not below /redfish;
  // INVALID_ARGUMENT: an ambiguous path; UNIMPLEMENTED: not a method of Redfish; PERMISSION_DENIED:
  // a mutation that is not allowed.
  absl::StatusOr<std::string> TargetOf(Method method, std::string_view target) const;

 private:
  struct Mutation {
    Method method;
    Glob path;
  };

  std::vector<Mutation> allowed_;
};

}  // namespace shoal::mockserver
