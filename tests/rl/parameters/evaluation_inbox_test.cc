// SPDX-License-Identifier: Apache-2.0
#include "rl/parameters/evaluation_inbox.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <limits>

#include "platform/transport/server.h"

namespace shoal::parameters {
namespace {

class Inbox {
 public:
  absl::Status Send(const EvaluationReport& report) {
    return SendEvaluation(server_->address(), "a test", report, std::chrono::seconds(30));
  }
  std::vector<EvaluationReport> Take() { return inbox_.Take(); }

 private:
  EvaluationInbox inbox_;
  const std::unique_ptr<transport::Server> server_ =
      transport::Server::Create({.listen = "127.0.0.1:0"}, {inbox_.service()}).value();
};

}  // namespace

TEST_CASE("what evaluations returned reaches the learner once, in order") {
  Inbox inbox;
  REQUIRE(inbox.Take().empty());
  REQUIRE(inbox.Send({.version = {2, 7}, .mean_return = -3.5, .episodes = 20}).ok());
  REQUIRE(inbox.Send({.version = {2, 9}, .mean_return = 4, .episodes = 10}).ok());
  const std::vector<EvaluationReport> taken = inbox.Take();
  REQUIRE(taken.size() == 2);
  REQUIRE(taken[0].version == Version{2, 7});
  REQUIRE(taken[0].mean_return == -3.5);
  REQUIRE(taken[0].episodes == 20);
  REQUIRE(taken[1].version == Version{2, 9});
  REQUIRE(inbox.Take().empty());
}

TEST_CASE("reports that nobody takes make room for newer ones") {
  Inbox inbox;
  for (std::uint64_t step = 0; step < EvaluationInbox::kMostReports + 2; ++step) {
    REQUIRE(inbox.Send({.version = {1, step}, .episodes = 1}).ok());
  }
  const std::vector<EvaluationReport> taken = inbox.Take();
  REQUIRE(taken.size() == EvaluationInbox::kMostReports);
  REQUIRE(taken.front().version == Version{1, 2});
}

TEST_CASE("a report that says nothing is refused by the name of its field") {
  Inbox inbox;
  const absl::Status without = inbox.Send({.version = {1, 1}, .mean_return = 1});
  REQUIRE(absl::IsInvalidArgument(without));
  REQUIRE(runtime::Message(without).find("episodes") != std::string::npos);
  const absl::Status endless = inbox.Send(
      {.version = {1, 1}, .mean_return = std::numeric_limits<double>::infinity(), .episodes = 1});
  REQUIRE(absl::IsInvalidArgument(endless));
  REQUIRE(runtime::Message(endless).find("mean_return") != std::string::npos);
  REQUIRE(inbox.Take().empty());
}

TEST_CASE("a learner that is not there costs the one who reports its time limit at most") {
  const absl::Status gone =
      SendEvaluation("127.0.0.1:1", "a test", {.episodes = 1}, std::chrono::milliseconds(300));
  REQUIRE((absl::IsUnavailable(gone) || absl::IsDeadlineExceeded(gone)));
}

}  // namespace shoal::parameters
