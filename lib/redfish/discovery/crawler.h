// SPDX-License-Identifier: Apache-2.0
// Asks a service for everything that it has, and writes what it says into a journal.
//
// Reads only: GET, and the login that was asked for. One thread; it waits in Run. Worth another
// attempt: no answer, 408, 425, 429, 500, 502, 503 and 504, and an object that is cut off. An
// answer of any other status is what the service says and is kept as such; but a 401 to a session
// is asked once more under a new one, and a service root that is no Redfish service root is never
// kept.
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
  // URIs answered, those of earlier runs among them, found and not yet answered, given up.
  std::int64_t done = 0;
  std::int64_t queued = 0;
  std::int64_t failed = 0;
  // Requests and retries of this run alone.
  std::int64_t requests = 0;
  std::int64_t retries = 0;
  // Answered in earlier runs.
  std::int64_t resumed = 0;
};

class Crawler {
 public:
  // Told of progress every few milliseconds, at the start and at the end; a true answer stops the
  // crawl.
  using Observer = std::function<bool(const CrawlProgress&)>;

  // Borrows all.
  Crawler(const CrawlOptions& options, Journal& journal, runtime::Clock& clock, Observer observer);

  // OK: everything was asked for; see failed(). CANCELLED by the observer, DEADLINE_EXCEEDED;
  // UNAVAILABLE: the service root, or the service as a whole, does not answer; FAILED_PRECONDITION:
  // it refuses who asks, or its certificate is not trusted. In every case the journal holds what
  // was answered. Called once.
  absl::Status Run();

  // URIs given up, and why.
  const std::map<std::string, std::string, std::less<>>& failed() const { return failed_; }
  // What went wrong and did no harm to what was crawled: a logout that failed.
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
  // To the frontier: where an answer leads. Pages are as deep as their collection.
  void Follow(const Answer& answer);
  // Another attempt later, or none.
  void PutOff(Errand errand, const std::string& reason, std::chrono::milliseconds at_least);
  void Refuse(const Errand& errand);
  // True when the service only wants the URI spelled otherwise.
  bool Redirected(Errand& errand, const http::ClientResponse& response);
  // Logs out and in again.
  void Renew();
  void LogOut();
  bool IsBusy() const;
  // All that is left waits for its time.
  void Pause();
  // What the observer answers.
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
  // Something was answered that not everyone may read.
  bool is_let_in_ = false;
  // Sessions made; a request that was sent under an earlier one may be refused.
  std::int64_t logins_ = 0;
  absl::Status error_;
  boost::asio::io_context context_{1};
  // Last: their callbacks use what is above.
  std::vector<Lane> lanes_;
};

}  // namespace shoal::discovery
