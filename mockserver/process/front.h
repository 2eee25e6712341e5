// SPDX-License-Identifier: Apache-2.0
// The services' HTTP front: finds the instance that a request means and lets it answer.
//
// /i/<id>/redfish/v1/... names an instance; so does the first label of Host (<id>.example:8000);
// otherwise it is the default instance, the first capture's. On a port of its own
// (instance_ports.h) nothing else chooses. Bodies name resources without the prefix, as the capture
// does.
//
// A request with the header Shoal-Watch gets, with its ordinary response,
//   Shoal-Watch-Result: satisfied=0;milestones=3;collateral=1
// as Instance::Evaluate says after it, when the instance has a watch. An instance that is not there
// is 404 with Shoal-Error: unknown-instance. Thread-safe; requests to one instance are serialised.
//
// A request that a handler outside answers (external_handlers.h) waits without a worker and without
// its instance; what came between has happened when its operations do. An answer that a fault drops
// closes the connection; one that it delays waits the same way, on the table's clock, where the
// instance has a real clock.
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
  // Borrows all. Without a sender, events that are pushed stay in their instances.
  Front(InstanceTable& table, runtime::Metrics& metrics, EventSender* sender = nullptr);
  ~Front();
  Front(const Front&) = delete;
  Front& operator=(const Front&) = delete;

  // The instance `id` answers; empty: the one that the request means.
  http::ServerResponse Handle(const http::ServerRequest& request, std::string_view id = {});

  // Answers that faults delay are given at once from now on: before the servers drain.
  void Hasten() { delayed_.Hasten(); }

 private:
  struct Counters;

  struct Answered;

  // What a handler outside is asked, and for whom.
  struct Exchange;

  http::ServerResponse Answer(const http::ServerRequest& request, std::string_view id,
                              Method method);
  http::ServerResponse AskOutside(std::shared_ptr<const Exchange> exchange);
  // The answer as the client gets it: counted, dropped, delayed or as it is.
  http::ServerResponse Deliver(const std::shared_ptr<InstanceTable::Slot>& slot, Method method,
                               Answered answered);
  void Count(Method method, int status);
  http::ServerResponse StreamAnswer(const std::shared_ptr<InstanceTable::Slot>& slot,
                                    std::uint64_t stream);

  InstanceTable& table_;
  EventSender* const sender_;
  const std::unique_ptr<Counters> counters_;
  DelayedAnswers delayed_;
  // Last: its thread uses what is above.
  ExternalCaller caller_;
};

}  // namespace shoal::mockserver
