// SPDX-License-Identifier: Apache-2.0
#include "mockserver/proxy/origin.h"

#include <algorithm>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "platform/http/client_connection.h"
#include "platform/runtime/thread.h"
#include "redfish/discovery/login.h"

namespace shoal::mockserver {
namespace {

double Milliseconds(runtime::Duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

}  // namespace

class Origin::Impl {
 public:
  Impl(discovery::CrawlOptions access, runtime::Clock& clock)
      : access_(std::move(access)), clock_(clock), login_(access_), pace_(context_) {
    lanes_.resize(static_cast<std::size_t>(std::max<std::int64_t>(1, access_.concurrency)));
    for (Lane& lane : lanes_) {
      lane.connection =
          std::make_unique<http::ClientConnection>(context_.get_executor(), access_.connection);
    }
    thread_ = runtime::Thread("origin", [this] { context_.run(); });
  }

  void Ask(http::ClientRequest request, Done done) {
    if (waiting_.fetch_add(1, std::memory_order_relaxed) >= kMaximumWaiting) {
      waiting_.fetch_sub(1, std::memory_order_relaxed);
      return done(runtime::ResourceExhausted(std::to_string(kMaximumWaiting) +
                                             " requests are waiting for the host, the limit"),
                  0);
    }
    const runtime::TimePoint due = clock_.Now() + access_.connection.request_deadline;
    boost::asio::post(context_,
                      [this, errand = Errand{std::move(request), std::move(done), due}]() mutable {
                        queue_.push_back(std::move(errand));
                        Dispatch();
                      });
  }

  absl::Status Stop(std::chrono::milliseconds patience) {
    if (!thread_.joinable()) return absl::OkStatus();
    context_.stop();
    thread_.Join();
    lanes_.clear();
    queue_.clear();
    access_.connection.connect_deadline = std::min(access_.connection.connect_deadline, patience);
    access_.connection.request_deadline = std::min(access_.connection.request_deadline, patience);
    return login_.Leave();
  }

 private:
  struct Lane {
    std::unique_ptr<http::ClientConnection> connection;
    bool busy = false;
  };
  struct Errand {
    http::ClientRequest request;
    Done done;
    runtime::TimePoint due;
    // The number of the login under which the request was sent.
    std::int64_t login = 0;
    bool is_renewed = false;
  };

  // Sends the requests that may be sent now.
  void Dispatch() {
    while (!queue_.empty()) {
      const auto free =
          std::find_if(lanes_.begin(), lanes_.end(), [](const Lane& lane) { return !lane.busy; });
      if (free == lanes_.end() || !IsTime()) return;
      Errand errand = std::move(queue_.front());
      queue_.pop_front();
      if (clock_.Now() >= errand.due) {
        Finish(errand, absl::DeadlineExceededError("too many requests are before this one"), 0);
      } else if (const absl::Status entered = Enter(); !entered.ok()) {
        Finish(errand, entered, 0);
      } else {
        Send(*free, std::move(errand));
      }
    }
  }

  // Returns whether the pace permits another request. When it does not, a timer calls Dispatch
  // again.
  bool IsTime() {
    if (access_.requests_per_second <= 0) return true;
    const runtime::TimePoint now = clock_.Now();
    if (now < next_request_) {
      pace_.expires_after(next_request_ - now);
      pace_.async_wait([this](boost::system::error_code stopped) {
        if (!stopped) Dispatch();
      });
      return false;
    }
    const std::chrono::duration<double> gap(1 / access_.requests_per_second);
    next_request_ = now + std::chrono::duration_cast<runtime::Duration>(gap);
    return true;
  }

  absl::Status Enter() {
    if (is_in_) return absl::OkStatus();
    if (!refused_.ok()) return refused_;
    login_.Leave().IgnoreError();
    const absl::Status entered = login_.Enter();
    if (absl::IsFailedPrecondition(entered)) refused_ = entered;
    is_in_ = entered.ok();
    if (is_in_) {
      ++logins_;
      entered_at_ = clock_.Now();
    }
    return entered;
  }

  void Send(Lane& lane, Errand errand) {
    lane.busy = true;
    errand.login = logins_;
    http::ClientRequest request = errand.request;
    for (const auto& [name, value] : login_.headers()) request.headers.Add(name, value);
    lane.connection->Send(
        std::move(request), [this, &lane, sent = clock_.Now(), errand = std::move(errand)](
                                absl::StatusOr<http::ClientResponse> response) mutable {
          lane.busy = false;
          OnAnswer(errand, std::move(response), Milliseconds(clock_.Now() - sent));
          Dispatch();
        });
  }

  void OnAnswer(Errand& errand, absl::StatusOr<http::ClientResponse> response,
                double milliseconds) {
    const bool forgotten = response.ok() && response->status == 401 &&
                           access_.authentication == discovery::Authentication::kSession;
    const bool renews = errand.login != logins_ || clock_.Now() - entered_at_ >= kRenewalPause;
    if (forgotten && renews && !std::exchange(errand.is_renewed, true)) {
      if (errand.login == logins_) is_in_ = false;
      return queue_.push_front(std::move(errand));
    }
    // The limit on an answer is the proxy's own, not a reason for clients to slow down.
    if (absl::IsResourceExhausted(response.status())) {
      response = runtime::DataLoss(runtime::Message(response.status()));
    }
    Finish(errand, std::move(response), milliseconds);
  }

  void Finish(const Errand& errand, absl::StatusOr<http::ClientResponse> response,
              double milliseconds) {
    waiting_.fetch_sub(1, std::memory_order_relaxed);
    errand.done(std::move(response), milliseconds);
  }

  // login_ borrows access_.
  discovery::CrawlOptions access_;
  runtime::Clock& clock_;
  // Relaxed, because this is only a count and publishes nothing.
  std::atomic<std::size_t> waiting_{0};

  // Used only by the thread, and by Stop once the thread has ended.
  discovery::Login login_;
  bool is_in_ = false;
  std::int64_t logins_ = 0;
  runtime::TimePoint entered_at_ = {};
  // The reason why the host refuses the login.
  absl::Status refused_;
  runtime::TimePoint next_request_ = {};
  boost::asio::io_context context_{1};
  const boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
      context_.get_executor()};
  boost::asio::steady_timer pace_;
  std::deque<Errand> queue_;
  std::vector<Lane> lanes_;
  runtime::Thread thread_;
};

Origin::Origin(discovery::CrawlOptions access, runtime::Clock& clock)
    : impl_(std::make_unique<Impl>(std::move(access), clock)) {}

Origin::~Origin() { Stop(std::chrono::milliseconds(500)).IgnoreError(); }

void Origin::Ask(http::ClientRequest request, Done done) {
  impl_->Ask(std::move(request), std::move(done));
}

absl::Status Origin::Stop(std::chrono::milliseconds patience) { return impl_->Stop(patience); }

}  // namespace shoal::mockserver
