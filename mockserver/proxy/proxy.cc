// SPDX-License-Identifier: Apache-2.0
#include "mockserver/proxy/proxy.h"

#include <utility>

#include "mockserver/messages/extended_info.h"
#include "mockserver/proxy/forwarded_headers.h"
#include "platform/http/responder.h"
#include "platform/runtime/log.h"

namespace shoal::mockserver {
namespace {

http::ServerResponse Refusal(int status, const std::string& message) {
  return {.status = status,
          .header_lines = std::string(kProtocolLines),
          .body = GeneralErrorResponse(status, message).body};
}

// Answers a request that ProxyRules refuses.
http::ServerResponse NotPassedOn(const absl::Status& status) {
  const std::string message = runtime::Message(status);
  switch (status.code()) {
    case absl::StatusCode::kPermissionDenied:
      return Refusal(403,
                     "This proxy passes reads on, and mutations that were named: this one is "
                     "by mockserver.proxy.allow = [\"" +
                         message + "\"].");
    case absl::StatusCode::kNotFound:
      return Refusal(404, "Not passed on: " + message + ".");
    case absl::StatusCode::kUnimplemented:
      return Refusal(501, "Not passed on: " + message + ".");
    default:
      return Refusal(400, "Not passed on: " + message + ".");
  }
}

// Answers a request for which Origin reports an error. Its message may hold a user name and is not
// shown.
http::ServerResponse NoAnswer(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kDeadlineExceeded:
      return Refusal(504, "The host behind this proxy does not answer in time.");
    case absl::StatusCode::kResourceExhausted: {
      http::ServerResponse answer =
          Refusal(503, "Too many requests wait for the host behind this proxy.");
      http::AppendHeader(answer.header_lines, "Retry-After", "1");
      return answer;
    }
    case absl::StatusCode::kFailedPrecondition:
      return Refusal(502,
                     "The host behind this proxy is not trusted, or refuses the proxy's "
                     "login; the proxy's log says more.");
    case absl::StatusCode::kDataLoss:
      return Refusal(502, "The answer of the host behind this proxy is no HTTP, or too long.");
    default:
      return Refusal(502, "The host behind this proxy cannot be reached.");
  }
}

bool IsFinal(int status) { return status >= 200 && status <= 599; }

}  // namespace

struct Proxy::Counters {
  explicit Counters(runtime::Metrics& metrics)
      : answered(metrics.Counter(kName, kHelp, {{"outcome", "answered"}})),
        refused(metrics.Counter(kName, kHelp, {{"outcome", "refused"}})),
        failed(metrics.Counter(kName, kHelp, {{"outcome", "failed"}})),
        recorded(metrics.Counter("shoal_proxy_recorded_total", "Exchanges recorded")),
        unrecorded(metrics.Counter("shoal_proxy_unrecorded_total",
                                   "Exchanges that the recording had no room for")) {}

  static constexpr const char* kName = "shoal_proxy_requests_total";
  static constexpr const char* kHelp = "Requests to the proxy";
  prometheus::Counter& answered;
  prometheus::Counter& refused;
  prometheus::Counter& failed;
  prometheus::Counter& recorded;
  prometheus::Counter& unrecorded;
};

struct Proxy::Exchange {
  RecordedRequest request;
  http::Headers headers;
  std::string content_type;
};

absl::StatusOr<std::unique_ptr<Proxy>> Proxy::Create(ProxySettings settings,
                                                     runtime::Metrics& metrics,
                                                     runtime::Clock& clock) {
  std::unique_ptr<ProxyRecording> recording;
  if (settings.recording) {
    SHOAL_ASSIGN_OR_RETURN(recording, ProxyRecording::Open(*settings.recording, clock));
  }
  return std::unique_ptr<Proxy>(
      new Proxy(std::move(settings), std::move(recording), metrics, clock));
}

Proxy::Proxy(ProxySettings settings, std::unique_ptr<ProxyRecording> recording,
             runtime::Metrics& metrics, runtime::Clock& clock)
    : rules_(std::move(settings.rules)),
      address_(settings.access.connection.address),
      logs_in_(settings.access.authentication != discovery::Authentication::kNone),
      counters_(std::make_unique<Counters>(metrics)),
      recording_(std::move(recording)),
      origin_(std::move(settings.access), clock) {}

Proxy::~Proxy() = default;

http::ServerResponse Proxy::Handle(const http::ServerRequest& request) {
  const Method method = ParseMethod(request.method());
  const absl::StatusOr<std::string> target = rules_.TargetOf(method, request.target());
  if (!target.ok()) {
    counters_->refused.Increment();
    return NotPassedOn(target.status());
  }
  if (request.Header("Accept").find("text/event-stream") != std::string_view::npos) {
    counters_->refused.Increment();
    return Refusal(501, "Not passed on: a stream of events has no end to wait for.");
  }
  auto exchange = std::make_shared<Exchange>();
  exchange->request = {method, *target, std::string(request.body())};
  exchange->headers = RequestHeaders(request, logs_in_ ? Credentials::kStop : Credentials::kPass);
  const std::string_view type = request.Header("Content-Type");
  exchange->content_type = type.empty() ? "application/json" : type;
  return Forward(std::move(exchange));
}

http::ServerResponse Proxy::Forward(std::shared_ptr<const Exchange> exchange) {
  http::ServerResponse deferred;
  deferred.later = [this, exchange = std::move(exchange)](http::Responder responder) {
    const RecordedRequest& request = exchange->request;
    origin_.Ask({.method = std::string(Name(request.method)),
                 .target = request.target,
                 .headers = exchange->headers,
                 .body = request.body,
                 .content_type = exchange->content_type},
                [this, exchange, responder = std::move(responder)](
                    absl::StatusOr<http::ClientResponse> response, double milliseconds) {
                  responder.Send(Conclude(*exchange, std::move(response), milliseconds));
                });
  };
  return deferred;
}

http::ServerResponse Proxy::Conclude(const Exchange& exchange,
                                     absl::StatusOr<http::ClientResponse> response,
                                     double milliseconds) {
  const RecordedRequest& request = exchange.request;
  const std::string path = request.target.substr(0, request.target.find('?'));
  if (response.ok() && !IsFinal(response->status)) {
    response = runtime::DataLoss("status " + std::to_string(response->status));
  }
  if (!response.ok()) {
    counters_->failed.Increment();
    spdlog::warn("event=not_answered method={} path={} reason={}", Name(request.method),
                 runtime::Quoted(path), runtime::Quoted(runtime::Message(response.status())));
    return NoAnswer(response.status());
  }
  counters_->answered.Increment();
  if (!IsSafe(request.method)) {
    spdlog::info("event=mutation_passed_on method={} path={} status={}", Name(request.method),
                 runtime::Quoted(path), response->status);
  }
  Record(exchange, *response, milliseconds);

  http::ServerResponse answer{.status = response->status};
  answer.header_lines =
      AnswerLines(response->headers, address_, logs_in_ ? Credentials::kStop : Credentials::kPass);
  if (request.method == Method::kHead) {
    answer.header_lines += DescriptionLines(response->headers);
    answer.head_is_whole = true;
    return answer;
  }
  // The content type must live as long as the body.
  const auto body = std::make_shared<const std::pair<std::string, std::string>>(
      std::move(response->body), std::string(response->headers.Find("Content-Type")));
  const bool is_described = !body->second.empty() || !body->first.empty();
  if (is_described) answer.body = {body, &body->first};
  if (!body->second.empty()) answer.content_type = body->second;
  return answer;
}

void Proxy::Record(const Exchange& exchange, const http::ClientResponse& response,
                   double milliseconds) {
  if (recording_ == nullptr) return;
  if (!recording_error_.ok()) return counters_->unrecorded.Increment();
  recording_error_ = recording_->Add(exchange.request, response, milliseconds);
  if (recording_error_.ok()) return counters_->recorded.Increment();
  counters_->unrecorded.Increment();
  spdlog::error("event=recording_stopped reason={}",
                runtime::Quoted(runtime::Message(recording_error_)));
}

absl::Status Proxy::Close(std::chrono::milliseconds patience) {
  const absl::Status left = origin_.Stop(patience);
  if (!left.ok()) {
    spdlog::warn("event=logout_failed reason={}", runtime::Quoted(runtime::Message(left)));
  }
  if (recording_ == nullptr) return absl::OkStatus();
  const auto written = recording_->Write();
  if (absl::IsNotFound(written.status())) {
    spdlog::warn("event=no_capture_yet reason={}",
                 runtime::Quoted(runtime::Message(written.status())));
  } else {
    SHOAL_RETURN_IF_ERROR(written.status());
    spdlog::info("event=capture_written exchanges={} resources={} absent={} redacted={}",
                 recording_->exchanges(), written->resources, written->absent, written->redacted);
  }
  return recording_error_;
}

}  // namespace shoal::mockserver
