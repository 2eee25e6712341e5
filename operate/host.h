// SPDX-License-Identifier: Apache-2.0
// A real service: a login, reads that are repeated until they succeed, and single requests that
// change something and are never repeated here.
//
// Blocks. Not thread-safe. Requests are spaced by the pace of the options.
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "platform/http/client_connection.h"
#include "platform/http/message.h"
#include "platform/runtime/clock.h"
#include "platform/runtime/status.h"
#include "redfish/discovery/crawl_options.h"
#include "redfish/discovery/login.h"

namespace shoal::operate {

// Waits, and returns true when the operation shall stop.
using Pause = std::function<bool(runtime::Duration)>;

struct HostOptions {
  // How the host is reached, who logs in, the number of attempts of a read, and the pauses between
  // them. A deadline of the connection is the limit for one request.
  discovery::CrawlOptions access = {};
  // The name of the host in texts and logs, such as "https://bmc.lab:443".
  std::string name = {};
  // The least time from one request to the next; 0 means no limit.
  std::chrono::milliseconds pace{0};
};

struct HostRequest {
  std::string method = "GET";
  std::string uri = {};
  // Null means no body.
  nlohmann::json body = nullptr;
  std::string if_match = {};
  // The token of a session; "" means the login of the command itself.
  std::string token = {};
};

struct HostAnswer {
  int status = 0;
  // Null when there is no body, or none that is JSON.
  nlohmann::json body = nullptr;
  std::string etag = {};
  // Canonical; "" when there is none.
  std::string location = {};
  std::string token = {};
  // The service's wish for the pause before the next attempt; 0 when it has none.
  std::chrono::seconds retry_after{0};
};

// How many logins of one user may be refused in a row. Services lock an account after three or
// more.
inline constexpr int kRefusedLogins = 2;

class Host {
 public:
  // REQUIRES: `clock` and whatever `pause` uses outlive this object.
  Host(HostOptions options, runtime::Clock& clock, Pause pause);
  ~Host();

  // Logs in. Errors are those of discovery::Login; a busy service is asked again.
  absl::Status Enter();
  // Logs out. The session of a service that refuses stays until it expires.
  void Leave();

  // Reads a resource, without the command's own session where it is a member. Any status but 408,
  // 425, 429, 500, 502, 503 and 504 is an answer. UNAVAILABLE or DEADLINE_EXCEEDED: no attempt
  // brought one. CANCELLED: the operation shall stop.
  absl::StatusOr<HostAnswer> Get(const std::string& uri, const std::string& token = {});

  // Sends one request on a connection of its own. ABORTED: it was not sent, as there is no
  // connection. CANCELLED: it was not sent, as the operation shall stop. UNAVAILABLE or
  // DEADLINE_EXCEEDED: it may have taken effect, and its answer is lost.
  absl::StatusOr<HostAnswer> Send(const HostRequest& request);

  // Returns whether a user can log in, by a read under Basic authentication. A login whose answer
  // is lost counts as a refused one, as the host may have refused it. FAILED_PRECONDITION once
  // kRefusedLogins in a row were refused, and from then on without asking, since a service locks an
  // account after some wrong passwords (AccountLockoutThreshold). CANCELLED: the operation shall
  // stop. UNAVAILABLE: the host has no time for it, and nothing was refused.
  absl::StatusOr<bool> CanLogIn(const std::string& uri, const std::string& user,
                                const std::string& password);

  const std::string& name() const { return options_.name; }
  const HostOptions& options() const { return options_; }
  // Waits as the options' pause does.
  bool Wait(runtime::Duration time) { return pause_(time); }
  runtime::Clock& clock() { return clock_; }

 private:
  absl::StatusOr<HostAnswer> Exchange(http::ClientConnection& connection,
                                      boost::asio::io_context& context,
                                      http::ClientRequest request);
  http::ClientRequest RequestOf(const HostRequest& request) const;
  void HideSession(nlohmann::json& body) const;
  bool KeepPace();
  // Notes the outcome of a login, and returns whether the user got in.
  absl::StatusOr<bool> CountLogin(const std::string& user, bool is_refused);

  const HostOptions options_;
  runtime::Clock& clock_;
  const Pause pause_;
  discovery::Login login_;
  runtime::TimePoint next_ = {};
  // The refusals in a row by user.
  std::map<std::string, int> refused_;
  boost::asio::io_context context_{1};
  // The connection of reads, which stays open.
  std::unique_ptr<http::ClientConnection> reads_;
};

}  // namespace shoal::operate
