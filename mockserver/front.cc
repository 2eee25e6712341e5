// SPDX-License-Identifier: Apache-2.0
#include "mockserver/front.h"

#include <array>
#include <chrono>
#include <string>
#include <utility>

#include "mockserver/control.h"
#include "mockserver/extended_info.h"

namespace shoal::mockserver {
namespace {

constexpr std::string_view kInstancePrefix = "/i/";
constexpr std::size_t kMethods = 8;
constexpr std::size_t kClasses = 6;

struct Route {
  // Empty: none is named.
  std::string_view id;
  std::string_view uri;
};

Route RouteOf(std::string_view target) {
  if (!target.starts_with(kInstancePrefix)) return {{}, target};
  const std::string_view rest = target.substr(kInstancePrefix.size());
  const std::size_t slash = rest.find('/');
  if (slash == std::string_view::npos) return {rest, "/"};
  return {rest.substr(0, slash), rest.substr(slash)};
}

std::string_view FirstLabel(std::string_view host) {
  return host.substr(0, host.find_first_of(".:"));
}

std::string Text(const Evaluation& evaluation) {
  return std::string("satisfied=") + (evaluation.satisfied ? '1' : '0') +
         ";milestones=" + std::to_string(evaluation.milestones) +
         ";collateral=" + std::to_string(evaluation.collateral);
}

http::ServerResponse Translate(Response response) {
  http::ServerResponse answer;
  answer.status = response.status;
  answer.header_lines = "OData-Version: 4.0\r\nCache-Control: no-cache\r\n";
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
      for (std::size_t kind = 1; kind < kClasses; ++kind) {
        requests[method][kind] =
            &metrics.Counter("shoal_http_requests_total", "Requests to services",
                             {{"method", std::string(Name(static_cast<Method>(method)))},
                              {"status", std::to_string(kind) + "xx"}});
      }
    }
  }

  std::array<std::array<prometheus::Counter*, kClasses>, kMethods> requests{};
  prometheus::Histogram& seconds;
};

Front::Front(InstanceTable& table, runtime::Metrics& metrics)
    : table_(table), counters_(std::make_unique<Counters>(metrics)) {}

Front::~Front() = default;

http::ServerResponse Front::Handle(const http::ServerRequest& request) {
  const auto start = std::chrono::steady_clock::now();
  const Method method = ParseMethod(request.method());
  http::ServerResponse answer = Answer(request, method);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  counters_->seconds.Observe(spent.count());
  const auto kind = static_cast<std::size_t>(answer.status / 100);
  counters_->requests[static_cast<std::size_t>(method)][kind]->Increment();
  return answer;
}

http::ServerResponse Front::Answer(const http::ServerRequest& request, Method method) {
  const Route route = RouteOf(request.target());
  std::shared_ptr<InstanceTable::Slot> slot;
  if (!route.id.empty()) {
    slot = table_.Find(route.id);
    if (slot == nullptr) return UnknownInstance(route.id);
  } else {
    slot = table_.Find(FirstLabel(request.Header("Host")));
    if (slot == nullptr) slot = table_.Default();
  }
  const bool watches = !request.Header(kWatchHeader).empty();

  std::string evaluation;
  Response response;
  {
    const runtime::MutexLock lock(slot->mutex);
    response = slot->instance.Handle({.method = method,
                                      .uri = route.uri,
                                      .body = request.body(),
                                      .if_match = request.Header("If-Match"),
                                      .if_none_match = request.Header("If-None-Match"),
                                      .odata_version = request.Header("OData-Version"),
                                      .content_type = request.Header("Content-Type"),
                                      .accept = request.Header("Accept"),
                                      .authorization = request.Header("Authorization"),
                                      .auth_token = request.Header("X-Auth-Token")});
    if (watches && slot->instance.has_watch()) evaluation = Text(slot->instance.Evaluate());
    response.json = nullptr;
  }
  http::ServerResponse answer = Translate(std::move(response));
  if (!evaluation.empty()) {
    http::AppendHeader(answer.header_lines, kWatchResultHeader, evaluation);
  }
  return answer;
}

}  // namespace shoal::mockserver
