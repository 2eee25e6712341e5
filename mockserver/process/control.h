// SPDX-License-Identifier: Apache-2.0
// The control API: creates, resets, advances and evaluates instances. It has a port of its own and
// is never reachable on the services' port. Requests and answers are JSON.
//
//   GET    /shoal/v1/health                   {"status": "serving", "instances": 3}
//   GET    /shoal/v1/captures                 {"captures": [{"name", "digest", "resources"}]}
//   POST   /shoal/v1/instances                {"capture": "dell-r750", "id"?, "seed"?,
//                                              "power_transient_ms"?, "task_duration_ms"?,
//                                              "manager_restart_ms"?, "mode"?: "static",
//                                              "clock"?: "real", "authentication"?: "required",
//                                              "preconditions"?: "required",
//                                              "event_delivery"?: "push", "faults"?: [..],
//                                              "port"?: 0} -> 201 {"id", "capture", "address"?}
//   DELETE /shoal/v1/instances/<id>           204
//   POST   /shoal/v1/instances/<id>/reset     {"start"?: [{"uri", "pointer", "value"}],
//                                              "watch"?: {"predicate", "milestones", "allowed"},
//                                              "faults"?: {"faults": [..], "seed"?}}
//   POST   /shoal/v1/instances/<id>/advance   {"milliseconds": 1000}
//   POST   /shoal/v1/instances/<id>/evaluate  {} or nothing
//   GET    /shoal/v1/instances/<id>/history   {"now", "records": [{"kind", "uri", "detail",
//                                                                  "time"}]}
//   POST   /shoal/v1/instances/<id>/savepoint {"name": "clean"} -> 201
//   POST   /shoal/v1/instances/<id>/restore   {"name": "clean"}
//   GET    /shoal/v1/instances/<id>/savepoints           {"savepoints": [{"name", "now", "records",
//                                                                         "changed_resources"}]}
//   DELETE /shoal/v1/instances/<id>/savepoints/<name>    204
//
//   GET, PUT   /shoal/v1/instances/<id>/rules            {"rules": [..]}; PUT replaces all
//   GET, PUT   /shoal/v1/instances/<id>/faults           {"faults": [..], "seed"?}; the same
//   GET, POST  /shoal/v1/instances/<id>/handlers         {"handlers": [..]}; POST one -> 201
//   DELETE     /shoal/v1/instances/<id>/handlers/<name>  204
//
// reset, restore, advance and evaluate answer
//   {"satisfied": false, "milestones": 3, "open": 4, "collateral": 0}
// The formats are those of redfish/goals/watch.h for `watch`, rules.h for rules, fault.h for faults
// and external_handlers.h for a handler, whose "url" must be on this machine or on one of
// external_handler_hosts. POST of a handler replaces the one of the same "name". Rules, handlers
// and faults that a reset does not replace stay through it. Creating an instance with an existing
// "id" replaces it, so a client that restarts gets its own instance. With "port" the instance gets
// a port of its own on the services' host (0 selects a free one), and "address" says where
// (instance_ports.h).
//
// Errors are {"error": {"code", "message"}} with 400, 404, 405, or 429 for too many instances,
// ports or savepoints. A 404 for an unknown instance also has the header Shoal-Error:
// unknown-instance.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mockserver/instance/instance.h"
#include "mockserver/messages/message.h"
#include "mockserver/process/event_sender.h"
#include "mockserver/process/instance_ports.h"
#include "mockserver/process/instance_table.h"
#include "platform/http/message.h"
#include "platform/runtime/metrics.h"

namespace shoal::mockserver {

struct ControlOptions {
  // The hosts, besides this machine, on which handlers may be.
  std::vector<std::string> external_handler_hosts = {};
};

// Thread-safe.
class Control {
 public:
  // Borrows all references and pointers. Without a sender, pushed events stay in their instances;
  // without ports, no instance has a port of its own.
  Control(InstanceTable& table, runtime::Metrics& metrics, ControlOptions options = {},
          EventSender* sender = nullptr, InstancePorts* ports = nullptr);

  http::ServerResponse Handle(const http::ServerRequest& request);

 private:
  http::ServerResponse Route(const http::ServerRequest& request);
  http::ServerResponse HandleInstance(std::string_view method, std::string_view id,
                                      std::string_view verb, std::string_view body);
  http::ServerResponse DeleteInstance(std::string_view id);
  http::ServerResponse Act(Instance& instance, std::string_view verb, Json body);
  http::ServerResponse Teach(std::string_view method, std::string_view id, std::string_view verb,
                             std::string_view body);
  http::ServerResponse CreateInstance(std::string_view body);
  absl::StatusOr<Json> Create(std::string_view body);

  InstanceTable& table_;
  const ControlOptions options_;
  EventSender* const sender_;
  InstancePorts* const ports_;
  prometheus::Gauge& instances_;
  prometheus::Counter& resets_;
};

// The part of the control API that saves an instance as it is and restores it.
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
