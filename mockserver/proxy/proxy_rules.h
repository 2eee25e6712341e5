// SPDX-License-Identifier: Apache-2.0
// Which requests a proxy passes on to the real host: reads below /redfish, and the mutations that
// were named one by one.
//
//   ProxyRules::Parse({"POST /redfish/v1/Systems/*/Actions/ComputerSystem.Reset"})
//
// GET, HEAD and OPTIONS are reads. What a host could understand as another path than it is judged
// by ("..", "%2e%2e", "\", a double escape) is not passed on at all; a mutation moreover carries
// neither escapes nor a query nor path parameters, in which some hosts look for another method.
// Immutable, safe for any number of threads.
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
  // Each is a method, POST, PATCH, PUT or DELETE, a blank, and a glob (glob.h) below /redfish in
  // which `*` alone is a wildcard: `**` would name more than one mutation. INVALID_ARGUMENT naming
  // the one that is wrong.
  static absl::StatusOr<ProxyRules> Parse(const std::vector<std::string>& allowed);

  // What the host is asked for when a client asks for `target`: the target itself, of a mutation
  // its canonical path. NOT_FOUND: not below /redfish; INVALID_ARGUMENT: an ambiguous path;
  // UNIMPLEMENTED: no method of Redfish; PERMISSION_DENIED: a mutation that nobody named.
  absl::StatusOr<std::string> TargetOf(Method method, std::string_view target) const;

 private:
  struct Mutation {
    Method method;
    Glob path;
  };

  std::vector<Mutation> allowed_;
};

}  // namespace shoal::mockserver
