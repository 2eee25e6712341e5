// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/http_service.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "platform/content/canonical_json.h"
#include "platform/runtime/random.h"

namespace shoal::actor {
namespace {

constexpr const char* kInstances = "/shoal/v1/instances";

// Takes "<name>=<number>" and the ';' that follows off the front of `text`.
bool TakeField(std::string_view& text, std::string_view name, std::uint64_t& value) {
  if (!text.starts_with(name)) return false;
  text.remove_prefix(name.size());
  if (!text.starts_with('=')) return false;
  text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (text.starts_with(';')) text.remove_prefix(1);
  return true;
}

// Returns `capture` as part of an instance's id, which must be short and consist of the characters
// below.
std::string IdOf(const std::string& capture) {
  constexpr std::size_t kLongest = 40;
  const bool fits = std::all_of(capture.begin(), capture.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_';
  });
  if (fits && capture.size() <= kLongest) return capture;
  return "c" + std::to_string(runtime::DeriveSeed(0, capture));
}

absl::StatusOr<redfish::Progress> ParseProgress(const std::string& body) {
  const nlohmann::json json = nlohmann::json::parse(body, nullptr, false);
  redfish::Progress progress;
  try {
    progress.satisfied = json.at("satisfied").get<bool>();
    progress.milestones = json.at("milestones").get<std::uint64_t>();
    progress.open = json.at("open").get<std::uint64_t>();
    progress.collateral = json.at("collateral").get<std::int64_t>();
  } catch (const nlohmann::json::exception& error) {
    return runtime::DataLoss(std::string("the control API's answer: ") + error.what());
  }
  return progress;
}

// A refusal of the control API is a fault of ours. A service that is busy or gone is not.
absl::Status ToStatus(const http::ClientResponse& answer, const std::string& what) {
  if (answer.status < 300) return absl::OkStatus();
  const std::string message =
      what + ": status " + std::to_string(answer.status) + " " + answer.body.substr(0, 200);
  if (answer.status == 429 || answer.status >= 500) return runtime::Unavailable(message);
  return runtime::InvalidArgument(message);
}

bool IsLost(const http::ClientResponse& answer) {
  return answer.status == 404 && answer.headers.Find("Shoal-Error") == "unknown-instance";
}

}  // namespace

HttpConnections::HttpConnections(boost::asio::any_io_executor executor, const Options& options) {
  const auto connect = [&](const std::string& address, std::size_t max_waiting) {
    return std::make_unique<http::ClientConnection>(
        executor, http::ClientOptions{.address = address, .max_waiting = max_waiting});
  };
  for (std::size_t i = 0; i < options.count; ++i) {
    services_.push_back(connect(options.service, options.max_waiting));
  }
  control_ = connect(options.control, options.max_waiting);
}

absl::StatusOr<ServiceFaults> HttpService::SetFaults(const ServiceFaults& faults) {
  faults_ = ToJson(faults);
  return faults;
}

void HttpService::Reset(const std::string& capture, const redfish::Episode& episode,
                        ResetDone done) {
  instance_ = "e" + std::to_string(environment_id_) + "-" + IdOf(capture);
  nlohmann::json body = {{"start", redfish::ToJson(episode.start)}};
  if (episode.watch.has_value()) body["watch"] = episode.watch->ToJson();
  if (!faults_.is_null()) body["faults"] = faults_;
  auto text = std::make_shared<const std::string>(body.dump());
  if (made_.contains(instance_)) {
    ResetInstance(capture, std::move(text), true, std::move(done));
    return;
  }
  Make(capture, [this, capture, text, done = std::move(done)](const absl::Status& status) {
    if (!status.ok()) {
      done(status);
      return;
    }
    ResetInstance(capture, text, false, done);
  });
}

void HttpService::Make(const std::string& capture, std::function<void(const absl::Status&)> then) {
  const nlohmann::json body = {{"capture", capture}, {"id", instance_}};
  Post("", body.dump(),
       [this, then = std::move(then)](absl::StatusOr<http::ClientResponse> answer) {
         const absl::Status status =
             answer.ok() ? ToStatus(*answer, "make instance") : answer.status();
         if (status.ok()) made_.insert(instance_);
         then(status);
       });
}

void HttpService::ResetInstance(const std::string& capture, std::shared_ptr<const std::string> body,
                                bool may_make, ResetDone done) {
  Post("/" + instance_ + "/reset", *body,
       [this, capture, body, may_make,
        done = std::move(done)](absl::StatusOr<http::ClientResponse> answer) {
         if (!answer.ok()) {
           done(answer.status());
         } else if (IsLost(*answer) && may_make) {
           made_.erase(instance_);
           Make(capture, [this, capture, body, done](const absl::Status& status) {
             if (!status.ok()) {
               done(status);
             } else {
               ResetInstance(capture, body, false, done);
             }
           });
         } else if (const absl::Status status = ToStatus(*answer, "reset " + instance_);
                    !status.ok()) {
           done(status);
         } else {
           done(ParseProgress(answer->body));
         }
       });
}

void HttpService::Send(const ServiceRequest& request, Done done) {
  http::ClientRequest out{.method = request.method, .target = "/i/" + instance_ + request.uri};
  out.headers.Add("Shoal-Watch", "1");
  if (!request.if_match.empty()) out.headers.Add("If-Match", request.if_match);
  if (!request.token.empty()) out.headers.Add("X-Auth-Token", request.token);
  if (!request.body.is_null()) out.body = content::CanonicalJson(request.body);
  connections_->service(environment_id_)
      .Send(std::move(out),
            Guard([this, done = std::move(done)](absl::StatusOr<http::ClientResponse> answer) {
              done(Read(std::move(answer)));
            }));
}

absl::StatusOr<ServiceResponse> HttpService::Read(absl::StatusOr<http::ClientResponse> answer) {
  if (!answer.ok()) return answer.status();
  if (IsLost(*answer)) {
    made_.erase(instance_);
    return runtime::Unavailable("the server has lost instance " + instance_);
  }
  ServiceResponse response{.status = answer->status,
                           .etag = std::string(answer->headers.Find("ETag")),
                           .token = std::string(answer->headers.Find("X-Auth-Token")),
                           .location = std::string(answer->headers.Find("Location"))};
  SHOAL_ASSIGN_OR_RETURN(response.progress,
                         ParseWatchResult(answer->headers.Find("Shoal-Watch-Result")));
  if (!answer->body.empty()) {
    response.body = std::make_shared<const std::string>(std::move(answer->body));
  }
  return response;
}

void HttpService::Advance(std::chrono::seconds by, Done done) {
  const nlohmann::json body = {{"milliseconds", by.count() * 1000}};
  Post("/" + instance_ + "/advance", body.dump(),
       [this, done = std::move(done)](absl::StatusOr<http::ClientResponse> answer) {
         absl::Status status = answer.ok() ? ToStatus(*answer, "advance") : answer.status();
         if (answer.ok() && IsLost(*answer)) {
           made_.erase(instance_);
           status = runtime::Unavailable("the server has lost instance " + instance_);
         }
         if (!status.ok()) {
           done(status);
           return;
         }
         absl::StatusOr<redfish::Progress> progress = ParseProgress(answer->body);
         if (!progress.ok()) {
           done(progress.status());
           return;
         }
         done(ServiceResponse{.progress = *progress});
       });
}

void HttpService::Post(const std::string& path, std::string body, Answered then) {
  connections_->control().Send(
      {.method = "POST", .target = kInstances + path, .body = std::move(body)},
      Guard(std::move(then)));
}

HttpService::Answered HttpService::Guard(Answered then) {
  return [alive = std::weak_ptr<int>(alive_),
          then = std::move(then)](absl::StatusOr<http::ClientResponse> answer) {
    if (!alive.expired()) then(std::move(answer));
  };
}

absl::StatusOr<redfish::Progress> ParseWatchResult(std::string_view header) {
  std::string_view rest = header;
  std::uint64_t satisfied = 0;
  std::uint64_t milestones = 0;
  std::uint64_t open = 0;
  std::uint64_t collateral = 0;
  if (!TakeField(rest, "satisfied", satisfied) || !TakeField(rest, "milestones", milestones) ||
      !TakeField(rest, "open", open) || !TakeField(rest, "collateral", collateral) ||
      !rest.empty()) {
    return runtime::DataLoss("\"" + std::string(header.substr(0, 100)) + "\" is no watch result");
  }
  return redfish::Progress{.satisfied = satisfied != 0,
                           .milestones = milestones,
                           .open = open,
                           .collateral = static_cast<std::int64_t>(collateral)};
}

}  // namespace shoal::actor
