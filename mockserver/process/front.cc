// SPDX-License-Identifier: Apache-2.0
#include "mockserver/process/front.h"

#include <array>
#include <chrono>
#include <string>
#include <utility>

#include "mockserver/messages/extended_info.h"
#include "mockserver/process/control_response.h"
#include "platform/http/responder.h"

namespace shoal::mockserver {
namespace {

constexpr std::string_view kInstancePrefix = "/i/";
constexpr std::size_t kMethods = 8;
constexpr std::size_t kClasses = 6;
// The size in bytes that the header lines of most answers do not exceed.
constexpr std::size_t kUsualLines = 320;

struct Addressee {
  // Empty when the request names no instance.
  std::string_view id;
  std::string_view uri;
};

Addressee AddresseeOf(std::string_view target) {
  if (!target.starts_with(kInstancePrefix)) return {{}, target};
  const std::string_view rest = target.substr(kInstancePrefix.size());
  const std::size_t slash = rest.find('/');
  if (slash == std::string_view::npos) return {rest, "/"};
  return {rest.substr(0, slash), rest.substr(slash)};
}

std::string_view FirstLabel(std::string_view host) {
  return host.substr(0, host.find_first_of(".:"));
}

std::string Text(const redfish::Progress& progress) {
  return std::string("satisfied=") + (progress.satisfied ? '1' : '0') +
         ";milestones=" + std::to_string(progress.milestones) +
         ";open=" + std::to_string(progress.open) +
         ";collateral=" + std::to_string(progress.collateral);
}

http::ServerResponse Translate(Response response) {
  http::ServerResponse answer;
  answer.status = response.status;
  answer.header_lines.reserve(kUsualLines);
  answer.header_lines = kProtocolLines;
  if (!response.etag.empty()) http::AppendHeader(answer.header_lines, "ETag", response.etag);
  if (!response.allow.empty()) http::AppendHeader(answer.header_lines, "Allow", response.allow);
  if (!response.location.empty()) {
    http::AppendHeader(answer.header_lines, "Location", response.location);
  }
  if (!response.link.empty()) http::AppendHeader(answer.header_lines, "Link", response.link);
  answer.content_type = response.content_type;
  for (const auto& [name, value] : response.headers) {
    http::AppendHeader(answer.header_lines, name, value);
  }
  answer.body = std::move(response.body);
  return answer;
}

http::ServerResponse UnknownInstance(std::string_view id) {
  http::ServerResponse answer =
      Translate(ErrorResponse(404, "ResourceMissingAtURI", {"/i/" + std::string(id)}));
  http::AppendHeader(answer.header_lines, kErrorHeader, kUnknownInstance);
  return answer;
}

}  // namespace

struct Front::Counters {
  explicit Counters(runtime::Metrics& metrics)
      : seconds(metrics.Histogram("shoal_http_request_seconds",
                                  "Handling of one request, the network not counted",
                                  runtime::ExponentialBounds(2e-6, 2.0, 18))) {
    for (std::size_t method = 0; method < kMethods; ++method) {
      for (std::size_t kind = 0; kind < kClasses; ++kind) {
        requests[method][kind] =
            &metrics.Counter("shoal_http_requests_total", "Requests to services",
                             {{"method", std::string(Name(static_cast<Method>(method)))},
                              {"status", kind == 0 ? "none" : std::to_string(kind) + "xx"}});
      }
    }
  }

  std::array<std::array<prometheus::Counter*, kClasses>, kMethods> requests{};
  prometheus::Histogram& seconds;
};

// An instance's answer, and the evaluation of its watch after it, which is empty for none.
struct Front::Answered {
  Response response;
  std::string evaluation;
  // Whether the instance has events to send.
  bool sends = false;

  void Conclude(InstanceTable::Slot& slot, bool watches) ABSL_EXCLUSIVE_LOCKS_REQUIRED(slot.mutex) {
    if (watches && slot.instance.has_watch()) evaluation = Text(slot.instance.Evaluate());
    response.json = nullptr;
  }
};

struct Front::Exchange {
  std::shared_ptr<InstanceTable::Slot> slot;
  std::shared_ptr<const ExternalCall> call;
  Method method;
  bool watches;
  // What faults do to the answer.
  bool dropped;
  std::chrono::milliseconds latency;
};

Front::Front(InstanceTable& table, runtime::Metrics& metrics, EventSender* sender)
    : table_(table),
      sender_(sender),
      counters_(std::make_unique<Counters>(metrics)),
      delayed_(table.clock()) {}

Front::~Front() = default;

http::ServerResponse Front::Handle(const http::ServerRequest& request, std::string_view id) {
  const auto start = std::chrono::steady_clock::now();
  const Method method = ParseMethod(request.method());
  http::ServerResponse answer = Answer(request, id, method);
  if (answer.later) return answer;
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  counters_->seconds.Observe(spent.count());
  return answer;
}

http::ServerResponse Front::Deliver(const std::shared_ptr<InstanceTable::Slot>& slot, Method method,
                                    Answered answered) {
  const std::chrono::milliseconds latency = answered.response.latency;
  const bool dropped = answered.response.dropped;
  Count(method, dropped ? 0 : answered.response.status);
  http::ServerResponse answer;
  answer.dropped = dropped;
  if (!dropped && answered.response.event_stream != 0) {
    answer = StreamAnswer(slot, answered.response.event_stream);
  } else if (!dropped) {
    answer = Translate(std::move(answered.response));
    if (!answered.evaluation.empty()) {
      http::AppendHeader(answer.header_lines, kWatchResultHeader, answered.evaluation);
    }
  }
  const bool is_late = slot->has_real_clock && latency.count() > 0;
  return is_late ? delayed_.After(std::move(answer), latency) : answer;
}

void Front::Count(Method method, int status) {
  const auto kind = static_cast<std::size_t>(status / 100);
  counters_->requests[static_cast<std::size_t>(method)][kind]->Increment();
}

http::ServerResponse Front::Answer(const http::ServerRequest& request, std::string_view id,
                                   Method method) {
  const Addressee addressee =
      id.empty() ? AddresseeOf(request.target()) : Addressee{id, request.target()};
  std::shared_ptr<InstanceTable::Slot> slot;
  if (!addressee.id.empty()) {
    slot = table_.Find(addressee.id);
    if (slot == nullptr) {
      Count(method, 404);
      return UnknownInstance(addressee.id);
    }
  } else {
    slot = table_.Find(FirstLabel(request.Header("Host")));
    if (slot == nullptr) slot = table_.Default();
  }
  const bool watches = !request.Header(kWatchHeader).empty();

  Answered answered;
  {
    const runtime::MutexLock lock(slot->mutex);
    if (slot->has_real_clock) slot->CatchUp(table_.clock().Now());
    answered.response = slot->instance.Handle({.method = method,
                                               .uri = addressee.uri,
                                               .body = request.body(),
                                               .if_match = request.Header("If-Match"),
                                               .if_none_match = request.Header("If-None-Match"),
                                               .odata_version = request.Header("OData-Version"),
                                               .content_type = request.Header("Content-Type"),
                                               .accept = request.Header("Accept"),
                                               .authorization = request.Header("Authorization"),
                                               .auth_token = request.Header("X-Auth-Token")});
    answered.Conclude(*slot, watches);
    answered.sends = sender_ != nullptr && slot->instance.HasEventsToSend();
  }
  if (answered.sends) sender_->Flush(slot);
  Response& response = answered.response;
  if (response.external == nullptr) return Deliver(slot, method, std::move(answered));
  return AskOutside(std::make_shared<const Exchange>(
      Exchange{std::move(slot), std::move(response.external), method, watches, response.dropped,
               response.latency}));
}

http::ServerResponse Front::AskOutside(std::shared_ptr<const Exchange> exchange) {
  http::ServerResponse deferred;
  deferred.later = [this, exchange = std::move(exchange)](http::Responder responder) {
    caller_.Ask(exchange->call, [this, exchange, responder = std::move(responder)](
                                    absl::StatusOr<ExternalReply> reply) {
      InstanceTable::Slot& slot = *exchange->slot;
      Answered answered;
      {
        const runtime::MutexLock lock(slot.mutex);
        answered.response = slot.instance.Complete(*exchange->call, std::move(reply));
        answered.Conclude(slot, exchange->watches);
        answered.sends = sender_ != nullptr && slot.instance.HasEventsToSend();
      }
      if (answered.sends) sender_->Flush(exchange->slot);
      answered.response.dropped = exchange->dropped;
      answered.response.latency = exchange->latency;
      responder.Send(Deliver(exchange->slot, exchange->method, std::move(answered)));
    });
  };
  return deferred;
}

http::ServerResponse Front::StreamAnswer(const std::shared_ptr<InstanceTable::Slot>& slot,
                                         std::uint64_t stream) {
  http::ServerResponse answer = Translate(Response{});
  answer.content_type = "text/event-stream";
  if (sender_ != nullptr) answer.stream = sender_->Stream(slot, stream);
  return answer;
}

}  // namespace shoal::mockserver
