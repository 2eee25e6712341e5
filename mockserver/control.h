// SPDX-License-Identifier: Apache-2.0
// The control API: makes, resets, winds and judges instances. On a port of its own, never on the
// services'. JSON both ways.
//
//   GET    /shoal/v1/health                   {"status": "serving", "instances": 3}
//   GET    /shoal/v1/captures                 {"captures": [{"name", "digest", "resources"}]}
//   POST   /shoal/v1/instances                {"capture": "dell-r750", "id"?, "seed"?,
//                                              "power_transient_ms"?, "authentication"?: "none" or
//                                              "required"} -> 201 {"id", "capture"}
//   DELETE /shoal/v1/instances/<id>           204
//   POST   /shoal/v1/instances/<id>/reset     {"start"?: [{"uri", "pointer", "value"}],
//                                              "watch"?: {"predicate", "milestones", "allowed"}}
//   POST   /shoal/v1/instances/<id>/advance   {"milliseconds": 1000}
//   POST   /shoal/v1/instances/<id>/evaluate  {} or nothing
//   GET    /shoal/v1/instances/<id>/history   {"now", "records": [{"kind", "uri", "detail",
//   "time"}]}
//
// reset, advance and evaluate answer {"satisfied": false, "milestones": 3, "collateral": 0}.
// `watch` as redfish/watch.h reads it. An "id" that exists is replaced: a client that starts again
// gets its own. Errors: {"error": {"code", "message"}} with 400, 404, 405, 429 (too many
// instances); 404 for an instance that is not there also has the header Shoal-Error:
// unknown-instance.
#pragma once

#include <string_view>

#include "http/message.h"
#include "mockserver/instance_table.h"
#include "runtime/metrics.h"

namespace shoal::mockserver {

// The header that tells a client to make its instance anew, and its value.
inline constexpr std::string_view kErrorHeader = "Shoal-Error";
inline constexpr std::string_view kUnknownInstance = "unknown-instance";

// Thread-safe.
class Control {
 public:
  // Borrows both.
  Control(InstanceTable& table, runtime::Metrics& metrics);

  http::ServerResponse Handle(const http::ServerRequest& request);

 private:
  http::ServerResponse Route(const http::ServerRequest& request);
  http::ServerResponse HandleInstance(std::string_view method, std::string_view id,
                                      std::string_view verb, std::string_view body);
  http::ServerResponse CreateInstance(std::string_view body);

  InstanceTable& table_;
  prometheus::Gauge& instances_;
  prometheus::Counter& resets_;
};

}  // namespace shoal::mockserver
