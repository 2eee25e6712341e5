// SPDX-License-Identifier: Apache-2.0
// Requests every resource of a service and writes the answers into a journal.
//
// The crawler only reads: it uses GET, and the requested login. It has one thread, and Run blocks.
// It makes another attempt after no answer, after 408, 425, 429, 500, 502, 503 and 504, and after
// an object that is cut off. An answer of any other status is the service's and is stored. There
// are two exceptions: a 401 within a session is retried once under a new session, and a service
// root that is no Redfish service root is never stored.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "platform/http/client_connection.h"
#include "platform/runtime/clock.h"
#include "platform/runtime/random.h"
#include "platform/runtime/status.h"
#include "redfish/discovery/answer.h"
#include "redfish/discovery/crawl_options.h"
#include "redfish/discovery/frontier.h"
#include "redfish/discovery/journal.h"
#include "redfish/discovery/login.h"

namespace shoal::discovery {

struct CrawlProgress {
  // The URIs answered (those of earlier runs included), found and not yet answered, and given up.
  std::int64_t done = 0;
  std::int64_t queued = 0;
  std::int64_t failed = 0;
  // The requests and retries of this run alone.
  std::int64_t requests = 0;
  std::int64_t retries = 0;
  // The URIs answered in earlier runs.
  std::int64_t resumed = 0;
};

class Crawler {
 public:
  // Receives the progress every few milliseconds, at the start and at the end. Returning true stops
  // the crawl.
  using Observer = std::function<bool(const CrawlProgress&)>;

  // Borrows all arguments.
  Crawler(const CrawlOptions& options, Journal& journal, runtime::Clock& clock, Observer observer);

  // Runs the crawl; call it once. OK: every URI was requested; see failed(). CANCELLED: the
  // observer stopped it. DEADLINE_EXCEEDED. UNAVAILABLE: the service root, or the service as a
  // whole, does not answer. FAILED_PRECONDITION: the service refuses the credentials, or its
  // certificate is not trusted. In every case the journal holds the answers so far.
  absl::Status Run();

  // The URIs that were given up, with the reasons.
  const std::map<std::string, std::string, std::less<>>& failed() const { return failed_; }
  // Problems that did not harm the crawled data, such as a logout that failed.
  const std::vector<std::string>& warnings() const { return warnings_; }
  const Frontier& frontier() const { return frontier_; }

 private:
  struct Lane {
    std::unique_ptr<http::ClientConnection> connection;
    bool busy = false;
  };

  absl::Status Replay();
  void Dispatch(runtime::TimePoint now);
  void Ask(Lane& lane, Errand errand, runtime::TimePoint now);
  void OnAnswer(Errand errand, const absl::StatusOr<http::ClientResponse>& response,
                double milliseconds);
  void Keep(const Answer& answer);
  // Adds the links of an answer to the frontier. Pages are as deep as their collection.
  void Follow(const Answer& answer);
  // Schedules another attempt, or gives the URI up.
  void PutOff(Errand errand, const std::string& reason, std::chrono::milliseconds at_least);
  void Refuse(const Errand& errand);
  // Returns true when the service only wants another spelling of the URI.
  bool Redirected(Errand& errand, const http::ClientResponse& response);
  // Logs out and in again.
  void Renew();
  void LogOut();
  bool IsBusy() const;
  // Waits a moment when all remaining requests wait for their time.
  void Pause();
  // Reports progress; returns the observer's answer.
  bool Tell();
  absl::Status Watch(runtime::TimePoint started);

  const CrawlOptions& options_;
  Journal& journal_;
  runtime::Clock& clock_;
  const Observer observer_;
  runtime::Random random_;
  Login login_;
  Frontier frontier_;
  CrawlProgress progress_;
  std::map<std::string, std::string, std::less<>> failed_;
  std::vector<std::string> warnings_;
  runtime::TimePoint next_request_ = {};
  std::int64_t unanswered_ = 0;
  // Whether a resource was answered that requires a login.
  bool is_let_in_ = false;
  // The number of sessions renewed; a request that was sent under an earlier session may be
  // refused.
  std::int64_t logins_ = 0;
  absl::Status error_;
  boost::asio::io_context context_{1};
  // The lanes are declared last, since their callbacks use the members above.
  std::vector<Lane> lanes_;
};

}  // namespace shoal::discovery
