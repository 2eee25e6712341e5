// SPDX-License-Identifier: Apache-2.0
#include "operate/host.h"

#include <absl/strings/escaping.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "platform/content/parse_json.h"
#include "redfish/capture/uri.h"

namespace shoal::operate {
namespace {

using Json = nlohmann::json;

constexpr std::chrono::seconds kLongestWish{300};

bool IsPassing(int status) {
  return status == 408 || status == 425 || status == 429 || status == 500 ||
         (status >= 502 && status <= 504);
}

std::chrono::seconds WishOf(std::string_view text) {
  std::int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || seconds < 0) return std::chrono::seconds(0);
  return std::min(std::chrono::seconds(seconds), kLongestWish);
}

// A body that begins as an object and does not parse was cut off.
bool IsDamaged(const std::string& body, const Json& parsed) {
  const std::size_t begin = body.find_first_not_of(" \t\r\n");
  return begin != std::string::npos && body[begin] == '{' && parsed.is_discarded();
}

}  // namespace

Host::Host(HostOptions options, runtime::Clock& clock, Pause pause)
    : options_(std::move(options)),
      clock_(clock),
      pause_(std::move(pause)),
      login_(options_.access),
      reads_(std::make_unique<http::ClientConnection>(context_.get_executor(),
                                                      options_.access.connection)) {}

Host::~Host() {
  reads_.reset();
  context_.restart();
  context_.run();
}

absl::Status Host::Enter() {
  absl::Status status;
  std::chrono::milliseconds back_off = options_.access.back_off;
  for (std::int64_t attempt = 0; attempt < options_.access.attempts; ++attempt) {
    if (attempt > 0 && pause_(back_off)) return runtime::Cancelled(name() + ": stopped");
    back_off = std::min(2 * back_off, options_.access.longest_back_off);
    if (!KeepPace()) return runtime::Cancelled(name() + ": stopped");
    status = login_.Enter();
    if (!absl::IsUnavailable(status) && !absl::IsDeadlineExceeded(status)) return status;
  }
  return status;
}

void Host::Leave() { login_.Leave().IgnoreError(); }

http::ClientRequest Host::RequestOf(const HostRequest& request) const {
  http::ClientRequest sent = {.method = request.method, .target = request.uri};
  sent.headers.Add("Accept", "application/json");
  sent.headers.Add("OData-Version", "4.0");
  if (!request.token.empty()) {
    sent.headers.Add("X-Auth-Token", request.token);
  } else {
    for (const auto& [name, value] : login_.headers()) sent.headers.Add(name, value);
  }
  if (!request.if_match.empty()) sent.headers.Add("If-Match", request.if_match);
  if (!request.body.is_null()) {
    sent.body = request.body.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  return sent;
}

bool Host::KeepPace() {
  const runtime::TimePoint now = clock_.Now();
  if (now < next_ && pause_(next_ - now)) return false;
  next_ = clock_.Now() + options_.pace;
  return true;
}

absl::StatusOr<HostAnswer> Host::Exchange(http::ClientConnection& connection,
                                          boost::asio::io_context& context,
                                          http::ClientRequest request) {
  std::optional<absl::StatusOr<http::ClientResponse>> result;
  connection.Send(std::move(request), [&](absl::StatusOr<http::ClientResponse> response) {
    result = std::move(response);
    context.stop();
  });
  context.restart();
  context.run();
  if (!result) return runtime::Unavailable(name() + ": no answer");
  SHOAL_RETURN_IF_ERROR(result->status());
  const http::ClientResponse& response = **result;
  HostAnswer answer = {.status = response.status,
                       .etag = std::string(response.headers.Find("ETag")),
                       .token = std::string(response.headers.Find("X-Auth-Token")),
                       .retry_after = WishOf(response.headers.Find("Retry-After"))};
  const std::string_view location = response.headers.Find("Location");
  if (!location.empty()) answer.location = redfish::CanonicalUri(location);
  Json body = content::ParseJson(response.body);
  if (IsDamaged(response.body, body)) {
    return runtime::Unavailable(name() + ": the answer's JSON is damaged");
  }
  if (!body.is_discarded()) answer.body = std::move(body);
  return answer;
}

void Host::HideSession(Json& body) const {
  if (login_.session().empty() || !body.is_object() || !body.contains("Members")) return;
  Json& members = body["Members"];
  if (!members.is_array()) return;
  Json others = Json::array();
  for (const Json& member : members) {
    if (redfish::LinkTarget(member) != login_.session()) others.push_back(member);
  }
  if (others.size() == members.size()) return;
  if (body.contains("Members@odata.count")) body["Members@odata.count"] = others.size();
  members = std::move(others);
}

absl::StatusOr<HostAnswer> Host::Get(const std::string& uri, const std::string& token) {
  absl::Status failure;
  std::chrono::milliseconds back_off = options_.access.back_off;
  std::chrono::milliseconds wait{0};
  bool is_renewed = false;
  for (std::int64_t attempt = 0; attempt < options_.access.attempts; ++attempt) {
    if (attempt > 0 && pause_(wait)) return runtime::Cancelled(name() + ": stopped");
    if (!KeepPace()) return runtime::Cancelled(name() + ": stopped");
    absl::StatusOr<HostAnswer> answer =
        Exchange(*reads_, context_, RequestOf({.uri = uri, .token = token}));
    wait = back_off;
    back_off = std::min(2 * back_off, options_.access.longest_back_off);
    if (answer.ok() && answer->status == 401 && token.empty() && !is_renewed &&
        options_.access.authentication == discovery::Authentication::kSession) {
      is_renewed = true;
      SHOAL_RETURN_IF_ERROR(Enter());
      continue;
    }
    if (answer.ok() && !IsPassing(answer->status)) {
      HideSession(answer->body);
      return answer;
    }
    if (answer.ok()) {
      wait = std::max<std::chrono::milliseconds>(wait, answer->retry_after);
      failure =
          runtime::Unavailable(name() + ": GET " + uri + " is " + std::to_string(answer->status));
      continue;
    }
    failure = answer.status();
    const bool passes = absl::IsUnavailable(failure) || absl::IsDeadlineExceeded(failure) ||
                        absl::IsDataLoss(failure);
    if (!passes) return failure;
  }
  return failure;
}

absl::StatusOr<HostAnswer> Host::Send(const HostRequest& request) {
  if (!KeepPace()) return runtime::Cancelled(name() + ": stopped");
  boost::asio::io_context context(1);
  absl::StatusOr<HostAnswer> answer;
  bool connected = false;
  {
    http::ClientConnection connection(context.get_executor(), options_.access.connection);
    answer = Exchange(connection, context, RequestOf(request));
    connected = connection.connects_total() > 0;
  }
  if (answer.ok() || connected) {
    if (absl::IsDataLoss(answer.status())) {
      return runtime::Unavailable(runtime::Message(answer.status()));
    }
    return answer;
  }
  return absl::AbortedError(answer.status().message());
}

absl::StatusOr<bool> Host::CanLogIn(const std::string& uri, const std::string& user,
                                    const std::string& password) {
  if (refused_[user] >= kRefusedLogins) return CountLogin(user, true);
  http::ClientRequest request = {.target = uri, .may_repeat = false};
  request.headers.Add("Authorization", "Basic " + absl::Base64Escape(user + ":" + password));
  absl::Status failure = runtime::Unavailable(name() + ": no answer");
  for (std::int64_t attempt = 0; attempt < options_.access.attempts; ++attempt) {
    const bool is_stopped = (attempt > 0 && pause_(options_.access.back_off)) || !KeepPace();
    if (is_stopped) return runtime::Cancelled(name() + ": stopped");
    const absl::StatusOr<HostAnswer> answer = Exchange(*reads_, context_, request);
    if (answer.ok() && !IsPassing(answer->status)) return CountLogin(user, answer->status == 401);
    if (answer.ok()) continue;
    // The host may have refused it before the answer was lost.
    failure = answer.status();
    SHOAL_RETURN_IF_ERROR(CountLogin(user, true).status());
  }
  return failure;
}

absl::StatusOr<bool> Host::CountLogin(const std::string& user, bool is_refused) {
  int& refused = refused_[user];
  refused = is_refused ? std::min(refused + 1, kRefusedLogins) : 0;
  if (refused < kRefusedLogins) return !is_refused;
  return runtime::FailedPrecondition(
      name() + " refused " + std::to_string(kRefusedLogins) + " logins of " + user +
      " or did not answer them, and no more " + "are tried, so that the account is not locked");
}

}  // namespace shoal::operate
