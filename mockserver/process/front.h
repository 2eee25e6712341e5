// SPDX-License-Identifier: Apache-2.0
// The services' HTTP front: finds the instance that a request addresses and lets it answer.
//
// /i/<id>/redfish/v1/... names an instance, and so does the first label of Host
// (<id>.example:8000). Any other request is for the default instance, that of the first capture. On
// a port of an instance's own (instance_ports.h) nothing else selects the instance. Bodies name
// resources without the prefix, as the capture does.
//
// A request with the header Shoal-Watch gets, with its ordinary response,
//   Shoal-Watch-Result: satisfied=0;milestones=3;open=4;collateral=1
// which is Instance::Evaluate after the request, when the instance has a watch. An unknown instance
// is 404 with Shoal-Error: unknown-instance. Thread-safe; requests to one instance are serialised.
//
// A request that an external handler answers (external_handlers.h) waits without occupying a worker
// or its instance. Its operations take effect after those of requests that came in between. An
// answer that a fault drops closes the connection. An answer that a fault delays waits in the same
// way, on the table's clock, where the instance has a real clock.
#pragma once

#include <chrono>
#include <memory>
#include <string_view>

#include "mockserver/process/delayed_answers.h"
#include "mockserver/process/event_sender.h"
#include "mockserver/process/external_caller.h"
#include "mockserver/process/instance_table.h"
#include "platform/http/message.h"
#include "platform/runtime/metrics.h"

namespace shoal::mockserver {

inline constexpr std::string_view kWatchHeader = "Shoal-Watch";
inline constexpr std::string_view kWatchResultHeader = "Shoal-Watch-Result";

class Front {
 public:
  // Borrows all references and pointers. Without a sender, pushed events stay in their instances.
  Front(InstanceTable& table, runtime::Metrics& metrics, EventSender* sender = nullptr);
  ~Front();
  Front(const Front&) = delete;
  Front& operator=(const Front&) = delete;

  // Lets the instance `id` answer, or the instance that the request addresses when `id` is empty.
  http::ServerResponse Handle(const http::ServerRequest& request, std::string_view id = {});

  // Sends answers that faults delay at once from now on. Call it before the servers drain.
  void Hasten() { delayed_.Hasten(); }

 private:
  struct Counters;

  struct Answered;

  // A question to an external handler, and the request that it answers.
  struct Exchange;

  http::ServerResponse Answer(const http::ServerRequest& request, std::string_view id,
                              Method method);
  http::ServerResponse AskOutside(std::shared_ptr<const Exchange> exchange);
  // Returns the answer as the client gets it: counted, and dropped, delayed or unchanged.
  http::ServerResponse Deliver(const std::shared_ptr<InstanceTable::Slot>& slot, Method method,
                               Answered answered);
  void Count(Method method, int status);
  http::ServerResponse StreamAnswer(const std::shared_ptr<InstanceTable::Slot>& slot,
                                    std::uint64_t stream);

  InstanceTable& table_;
  EventSender* const sender_;
  const std::unique_ptr<Counters> counters_;
  DelayedAnswers delayed_;
  // The last member, because its thread uses those above.
  ExternalCaller caller_;
};

}  // namespace shoal::mockserver
