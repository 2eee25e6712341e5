// SPDX-License-Identifier: Apache-2.0
#include "redfish/discovery/crawler.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "redfish/capture/uri.h"
#include "redfish/discovery/links.h"

namespace shoal::discovery {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLongestWait{20};
constexpr std::int64_t kSessionsOfOneCrawl = 16;
constexpr std::array<int, 7> kPassing = {408, 425, 429, 500, 502, 503, 504};
// The service document, which every service has and few link to (DSP0266, "Resource URIs").
constexpr const char* kServiceDocument = "/redfish/v1/odata";

milliseconds RetryAfter(const http::ClientResponse& response) {
  const std::string_view text = response.headers.Find("Retry-After");
  std::int64_t seconds = 0;
  std::from_chars(text.data(), text.data() + text.size(), seconds);
  return std::chrono::seconds(std::clamp<std::int64_t>(seconds, 0, 3600));
}

std::string RequestTarget(std::string_view target) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  if (target == redfish::kServiceRoot) return std::string(target) + "/";
  std::string encoded;
  for (const char c : target) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > 0x20 && byte < 0x7f) {
      encoded += c;
    } else {
      encoded += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return encoded;
}

bool IsServiceRoot(const nlohmann::json& body) {
  return body.is_object() && (body.contains("RedfishVersion") || body.contains("@odata.id") ||
                              body.contains("@odata.type"));
}

double Milliseconds(runtime::Duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

}  // namespace

Crawler::Crawler(const CrawlOptions& options, Journal& journal, runtime::Clock& clock,
                 Observer observer)
    : options_(options),
      journal_(journal),
      clock_(clock),
      observer_(std::move(observer)),
      random_(runtime::DeriveSeed(options.seed, "discovery.back_off")),
      login_(options),
      frontier_(options) {}

absl::Status Crawler::Replay() {
  SHOAL_RETURN_IF_ERROR(journal_.ForEach([&](const auto& record, Journal::Position) {
    SHOAL_ASSIGN_OR_RETURN(const Answer answer, Answer::FromJson(record));
    frontier_.MarkAnswered(answer.link);
    return absl::OkStatus();
  }));
  progress_.resumed = progress_.done = static_cast<std::int64_t>(journal_.size());
  const std::string root(redfish::kServiceRoot);
  frontier_.Add({root, root}, 0);
  frontier_.Add({kServiceDocument, kServiceDocument}, 1);
  for (const std::string& start : options_.starts) {
    const std::string uri = redfish::CanonicalUri(start);
    frontier_.Add({uri, uri}, 1);
  }
  return journal_.ForEach([&](const auto& record, Journal::Position) {
    SHOAL_ASSIGN_OR_RETURN(const Answer answer, Answer::FromJson(record));
    Follow(answer);
    return absl::OkStatus();
  });
}

absl::Status Crawler::Run() {
  SHOAL_RETURN_IF_ERROR(Replay());
  Tell();
  if (frontier_.empty()) return absl::OkStatus();
  const runtime::TimePoint started = clock_.Now();
  SHOAL_RETURN_IF_ERROR(login_.Enter());
  lanes_.resize(static_cast<std::size_t>(std::max<std::int64_t>(1, options_.concurrency)));
  for (Lane& lane : lanes_) {
    lane.connection =
        std::make_unique<http::ClientConnection>(context_.get_executor(), options_.connection);
  }
  while (error_.ok() && (!frontier_.empty() || IsBusy())) {
    error_ = Watch(started);
    if (!error_.ok()) break;
    Dispatch(clock_.Now());
    context_.restart();
    if (IsBusy()) {
      context_.run_one_for(kLongestWait);
      context_.poll();
    } else if (!frontier_.empty()) {
      Pause();
    }
  }
  lanes_.clear();
  Tell();
  const absl::Status synced = journal_.Sync();
  LogOut();
  if (!error_.ok()) return error_;
  SHOAL_RETURN_IF_ERROR(synced);
  if (failed_.contains(redfish::kServiceRoot)) {
    return runtime::Unavailable(options_.connection.address + " has no service root: " +
                                failed_.find(redfish::kServiceRoot)->second);
  }
  return absl::OkStatus();
}

void Crawler::Pause() {
  runtime::Mutex mutex;
  runtime::CondVar never;
  const runtime::MutexLock lock(mutex);
  clock_.WaitUntil(never, mutex, clock_.Now() + milliseconds(1));
}

bool Crawler::Tell() {
  progress_.queued = static_cast<std::int64_t>(frontier_.size());
  for (const Lane& lane : lanes_) progress_.queued += lane.busy;
  progress_.failed = static_cast<std::int64_t>(failed_.size());
  return observer_ && observer_(progress_);
}

absl::Status Crawler::Watch(runtime::TimePoint started) {
  if (Tell()) return runtime::Cancelled("stopped");
  if (options_.deadline && clock_.Now() - started >= *options_.deadline) {
    return absl::DeadlineExceededError("the crawl's deadline has passed with " +
                                       std::to_string(progress_.queued) + " URIs to ask for");
  }
  if (unanswered_ >= options_.unanswered_in_a_row) {
    return runtime::Unavailable(options_.connection.address + " left " +
                                std::to_string(unanswered_) +
                                " requests in a row without an answer");
  }
  return absl::OkStatus();
}

bool Crawler::IsBusy() const {
  return std::any_of(lanes_.begin(), lanes_.end(), [](const Lane& lane) { return lane.busy; });
}

void Crawler::Dispatch(runtime::TimePoint now) {
  for (Lane& lane : lanes_) {
    if (lane.busy) continue;
    const bool paced = options_.requests_per_second > 0;
    if (paced && now < next_request_) return;
    std::optional<Errand> errand = frontier_.Next(now);
    if (!errand) return;
    if (paced) {
      const std::chrono::duration<double> gap(1 / options_.requests_per_second);
      next_request_ =
          std::max(next_request_, now) + std::chrono::duration_cast<runtime::Duration>(gap);
    }
    Ask(lane, *std::move(errand), now);
  }
}

void Crawler::Ask(Lane& lane, Errand errand, runtime::TimePoint now) {
  lane.busy = true;
  ++progress_.requests;
  ++errand.attempts;
  const std::string target =
      errand.spelling.empty() ? RequestTarget(errand.link.target) : errand.spelling;
  lane.connection->Send({.target = target, .headers = login_.headers()},
                        [this, &lane, now, login = logins_, errand = std::move(errand)](
                            const absl::StatusOr<http::ClientResponse>& response) mutable {
                          lane.busy = false;
                          const bool refused = response.ok() && response->status == 401 &&
                                               options_.authentication == Authentication::kSession;
                          const bool renews = login != logins_ || logins_ < kSessionsOfOneCrawl;
                          if (refused && renews && !std::exchange(errand.is_renewed, true)) {
                            if (login == logins_) Renew();
                            ++progress_.retries;
                            return frontier_.Retry(std::move(errand), clock_.Now());
                          }
                          OnAnswer(std::move(errand), response, Milliseconds(clock_.Now() - now));
                        });
}

void Crawler::Renew() {
  ++logins_;
  LogOut();
  if (const absl::Status entered = login_.Enter(); !entered.ok()) error_ = entered;
}

void Crawler::LogOut() {
  const absl::Status left = login_.Leave();
  if (!left.ok()) warnings_.push_back("logout: " + runtime::Message(left));
}

void Crawler::OnAnswer(Errand errand, const absl::StatusOr<http::ClientResponse>& response,
                       double milliseconds) {
  if (absl::IsFailedPrecondition(response.status())) {
    error_ = response.status();
    return;
  }
  if (!response.ok()) {
    // Another attempt would not make the answer shorter.
    if (absl::IsResourceExhausted(response.status())) errand.attempts = options_.attempts;
    ++unanswered_;
    return PutOff(std::move(errand), runtime::Message(response.status()),
                  std::chrono::milliseconds(0));
  }
  unanswered_ = 0;
  if (std::find(kPassing.begin(), kPassing.end(), response->status) != kPassing.end()) {
    return PutOff(std::move(errand), "status " + std::to_string(response->status),
                  RetryAfter(*response));
  }
  if (Redirected(errand, *response)) return frontier_.Retry(std::move(errand), clock_.Now());
  if (response->status == 401) return Refuse(errand);
  const bool is_root = errand.link.target == redfish::kServiceRoot;
  if (is_root && response->status != 200) {
    failed_.insert_or_assign(errand.link.target, "status " + std::to_string(response->status));
    return;
  }
  const Answer answer = AnswerFrom(errand.link, errand.depth, *response, milliseconds,
                                   options_.redaction ? &*options_.redaction : nullptr);
  if (answer.is_damaged) {
    return PutOff(std::move(errand), "cut or damaged JSON", std::chrono::milliseconds(0));
  }
  if (is_root && !IsServiceRoot(answer.body)) {
    failed_.insert_or_assign(errand.link.target, "it is no Redfish service root");
    return;
  }
  Keep(answer);
}

void Crawler::Refuse(const Errand& errand) {
  failed_.insert_or_assign(errand.link.target, "status 401");
  if (is_let_in_) return;
  const bool has_user = options_.authentication != Authentication::kNone;
  error_ = runtime::FailedPrecondition(
      options_.connection.address +
      (has_user ? " refuses " + options_.user : " wants to know who asks") + ": GET " +
      errand.link.target + " is 401");
}

bool Crawler::Redirected(Errand& errand, const http::ClientResponse& response) {
  const int status = response.status;
  if (status != 301 && status != 302 && status != 307 && status != 308) return false;
  const std::string_view path =
      OwnPath(response.headers.Find("Location"), options_.connection.address);
  if (!errand.spelling.empty() || redfish::CanonicalUri(path) != errand.link.uri) return false;
  errand.spelling = path;
  return true;
}

void Crawler::Keep(const Answer& answer) {
  // Anyone may read these two without a login.
  const bool is_open =
      answer.link.target == redfish::kServiceRoot || answer.link.target == kServiceDocument;
  is_let_in_ |= answer.entry.status == 200 && !is_open;
  if (const absl::Status kept = journal_.Append(answer.ToJson()); !kept.ok()) {
    error_ = kept;
    return;
  }
  ++progress_.done;
  Follow(answer);
}

void Crawler::Follow(const Answer& answer) {
  for (const Link& link : LinksIn(answer.body, options_.connection.address)) {
    const bool is_page = link.target != link.uri;
    frontier_.Add(link, is_page ? answer.depth : answer.depth + 1);
  }
}

void Crawler::PutOff(Errand errand, const std::string& reason, milliseconds at_least) {
  if (errand.attempts >= options_.attempts) {
    failed_.insert_or_assign(errand.link.target, reason);
    return;
  }
  ++progress_.retries;
  const auto doublings = std::min<std::int64_t>(errand.attempts - 1, 20);
  const double grown =
      static_cast<double>(options_.back_off.count()) * static_cast<double>(1LL << doublings);
  const double capped = std::min(grown * (0.5 + random_.Uniform()),
                                 static_cast<double>(options_.longest_back_off.count()));
  const milliseconds wait = std::max(milliseconds(static_cast<std::int64_t>(capped)), at_least);
  frontier_.Retry(std::move(errand), clock_.Now() + wait);
}

}  // namespace shoal::discovery
