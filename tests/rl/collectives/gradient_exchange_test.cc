// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "rl/collectives/call_header.h"
#include "rl/collectives/gradient_client.h"
#include "rl/collectives/gradient_hub.h"
#include "rl/collectives/socket.h"
#include "tests/doubles/ranks.h"

namespace shoal::collectives {
namespace {

constexpr std::size_t kSize = 3;

ExchangeOptions Options(std::uint64_t max_staleness = 0) {
  return {.limits = {.gradient_size = kSize, .max_values = kSize, .max_note_bytes = 64},
          .max_staleness = max_staleness,
          .call_timeout = std::chrono::seconds(60)};
}

// A step whose result depends on the order of gradients: their squares decay, as with RMSProp.
class Numbers {
 public:
  void Step(const std::vector<float>& gradient) {
    for (std::size_t i = 0; i < kSize; ++i) {
      squares_[i] = 0.9F * squares_[i] + 0.1F * gradient[i] * gradient[i];
      values_[i] -= 0.5F * gradient[i] / std::sqrt(squares_[i] + 0.01F);
    }
  }
  const std::vector<float>& values() const { return values_; }

 private:
  std::vector<float> values_ = std::vector<float>(kSize, 1.0F);
  std::vector<float> squares_ = std::vector<float>(kSize, 0.0F);
};

class Store final : public ParameterHolder {
 public:
  struct Seen {
    std::int64_t rank = 0;
    std::vector<float> gradient;
    friend bool operator==(const Seen&, const Seen&) = default;
  };

  ParameterNumber number() const override { return {epoch, applied.size()}; }
  absl::StatusOr<GradientFate> Apply(std::int64_t rank, const Contribution& given) override {
    if (given.note == "worse") return runtime::OutOfRange("training diverged");
    if (given.note == "repeated") return GradientFate::kRefused;
    applied.push_back({rank, given.gradient});
    numbers.Step(given.gradient);
    if (given.note == "new epoch") ++epoch;
    return GradientFate::kApplied;
  }
  absl::Status Drop(std::int64_t rank, const Contribution& given) override {
    dropped.push_back({rank, given.gradient});
    return absl::OkStatus();
  }
  absl::Status Hear(std::int64_t, const Contribution&) override {
    ++heard;
    return absl::OkStatus();
  }
  absl::Status Answer(std::int64_t, const Contribution& given, SharedParameters& answer) override {
    answer.values = numbers.values();
    answer.note = given.note;
    answer.stop = stops_after && applied.size() >= *stops_after;
    return absl::OkStatus();
  }

  std::uint64_t epoch = 4;
  std::size_t heard = 0;
  std::optional<std::size_t> stops_after;
  std::vector<Seen> applied;
  std::vector<Seen> dropped;
  Numbers numbers;
};

// A hub that serves on a thread of its own, with a socket to it for each rank.
class Exchange {
 public:
  explicit Exchange(std::size_t ranks, const ExchangeOptions& options = Options()) {
    std::vector<int> ends;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const auto pair = ConnectedPair();
      REQUIRE(pair.ok());
      ends.push_back((*pair)[0]);
      sockets_.push_back((*pair)[1]);
      clients_.push_back(
          std::make_unique<GradientClient>((*pair)[1], static_cast<std::int64_t>(rank), options));
    }
    hub_ = std::make_unique<GradientHub>(std::move(ends), options, store);
    thread_ = std::thread([this] { end_ = hub_->Serve(); });
  }
  ~Exchange() {
    clients_.clear();
    if (thread_.joinable()) thread_.join();
  }

  GradientClient& client(std::size_t rank) { return *clients_[rank]; }
  int socket(std::size_t rank) const { return sockets_[rank]; }
  void Lose(std::size_t rank) { clients_[rank].reset(); }
  absl::Status End() {
    thread_.join();
    return end_;
  }
  SharedParameters Give(std::size_t rank, const Contribution& contribution) {
    const auto answer = client(rank).Exchange(contribution);
    INFO(answer.status());
    REQUIRE(answer.ok());
    return *answer;
  }

  Store store;

 private:
  std::vector<int> sockets_;
  std::vector<std::unique_ptr<GradientClient>> clients_;
  std::unique_ptr<GradientHub> hub_;
  std::thread thread_;
  absl::Status end_;
};

std::vector<float> Gradient(std::size_t i) {
  const auto x = static_cast<float>(i);
  return {x, 1 - x, 0.25F * x * x};
}

bool Tells(const absl::Status& status, const std::string& text) {
  return std::string(status.message()).find(text) != std::string::npos;
}

}  // namespace

TEST_CASE("gradients that come in some order make what one learner makes of them in that order") {
  Exchange exchange(3);
  Numbers model;
  const std::vector<std::size_t> order = {2, 0, 0, 1, 2, 1, 0, 2, 2};
  for (std::size_t i = 0; i < order.size(); ++i) {
    const SharedParameters answer =
        exchange.Give(order[i], {.from = {4, 0}, .gradient = Gradient(i), .note = "mine"});
    model.Step(Gradient(i));
    REQUIRE(answer.values == model.values());
    REQUIRE(answer.fate == GradientFate::kApplied);
    REQUIRE(answer.number == ParameterNumber{4, i + 1});
    REQUIRE(answer.note == "mine");
    REQUIRE_FALSE(answer.stop);
  }
  for (std::size_t rank = 0; rank < 3; ++rank) {
    REQUIRE(exchange.Give(rank, {.leaves = true}).values == model.values());
  }
  REQUIRE(exchange.End().ok());
}

TEST_CASE(
    "ranks that exchange as fast as they can have each gradient applied once, in an order that "
    "explains the parameters") {
  constexpr std::size_t kRanks = 4;
  constexpr std::size_t kEach = 50;
  Store store;
  std::vector<std::vector<float>> last(kRanks);
  absl::Status served;
  const auto ends =
      doubles::TryRanks(kRanks, [&](std::size_t rank, GradientReducer& group) -> absl::Status {
        SHOAL_ASSIGN_OR_RETURN(std::vector<int> sockets, group.TakeConnections());
        if (!absl::IsFailedPrecondition(group.Barrier())) return runtime::Internal("a barrier");
        int own = sockets[0];
        std::unique_ptr<GradientHub> hub;
        std::thread serving;
        if (rank == 0) {
          SHOAL_ASSIGN_OR_RETURN(const auto pair, ConnectedPair());
          sockets[0] = pair[0];
          own = pair[1];
          hub = std::make_unique<GradientHub>(std::move(sockets), Options(), store);
          serving = std::thread([&] { served = hub->Serve(); });
        }
        GradientClient client(own, static_cast<std::int64_t>(rank), Options());
        absl::Status end;
        for (std::size_t i = 0; i < kEach && end.ok(); ++i) {
          end = client.Exchange({.from = {4, 0}, .gradient = Gradient(kEach * rank + i)}).status();
        }
        if (end.ok()) end = client.Exchange({.leaves = true}).status();
        if (serving.joinable()) serving.join();
        return end;
      });
  for (const absl::Status& end : ends) REQUIRE(end.ok());
  REQUIRE(served.ok());
  REQUIRE(store.applied.size() == kRanks * kEach);
  Numbers model;
  std::vector<std::size_t> counts(kRanks, 0);
  for (const Store::Seen& seen : store.applied) {
    const auto rank = static_cast<std::size_t>(seen.rank);
    REQUIRE(seen.gradient == Gradient(kEach * rank + counts[rank]++));
    model.Step(seen.gradient);
  }
  REQUIRE(store.numbers.values() == model.values());
}

TEST_CASE("a gradient of parameters that too many updates have changed since is dropped") {
  Exchange exchange(2, Options(/*max_staleness=*/2));
  for (std::size_t i = 0; i < 5; ++i) {
    exchange.Give(0, {.from = {4, i}, .gradient = Gradient(i)});
  }
  const std::vector<float> before = exchange.store.numbers.values();
  const SharedParameters late = exchange.Give(1, {.from = {4, 2}, .gradient = Gradient(7)});
  REQUIRE(late.fate == GradientFate::kStale);
  REQUIRE(late.values == before);
  REQUIRE(late.number.updates == 5);
  REQUIRE(exchange.store.dropped == std::vector<Store::Seen>{{1, Gradient(7)}});
  REQUIRE(exchange.Give(1, {.from = {4, 3}, .gradient = Gradient(7)}).fate ==
          GradientFate::kApplied);
}

TEST_CASE("a gradient of another epoch, or of parameters that nobody had, is dropped") {
  Exchange exchange(1);
  const std::vector<float> gradient = Gradient(1);
  exchange.Give(0, {.from = {4, 0}, .gradient = gradient, .note = "new epoch"});
  REQUIRE(exchange.Give(0, {.from = {4, 1}, .gradient = gradient}).fate == GradientFate::kStale);
  REQUIRE(exchange.Give(0, {.from = {5, 2}, .gradient = gradient}).fate == GradientFate::kStale);
  REQUIRE(exchange.Give(0, {.from = {5, 1}, .gradient = gradient}).fate == GradientFate::kApplied);
}

TEST_CASE("a rank may ask for parameters alone, and hears what its holder refused") {
  Exchange exchange(1);
  REQUIRE(exchange.Give(0, {}).fate == GradientFate::kNone);
  const SharedParameters refused =
      exchange.Give(0, {.from = {4, 0}, .gradient = Gradient(1), .note = "repeated"});
  REQUIRE(refused.fate == GradientFate::kRefused);
  REQUIRE(refused.values == Numbers().values());
  REQUIRE(exchange.store.applied.empty());
  REQUIRE(exchange.store.heard == 2);
}

TEST_CASE("a rank that leaves, and a holder that has enough, make the others leave") {
  const bool enough = GENERATE(true, false);
  Exchange exchange(2);
  if (enough) {
    exchange.store.stops_after = 1;
    REQUIRE(exchange.Give(1, {.from = {4, 0}, .gradient = Gradient(1)}).stop);
  }
  exchange.Give(1, {.leaves = true});
  REQUIRE(exchange.Give(0, {}).stop);
  exchange.Give(0, {.leaves = true});
  REQUIRE(exchange.End().ok());
}

TEST_CASE("the loss of a rank is told to the others by its number") {
  Exchange exchange(3);
  exchange.Lose(2);
  const absl::Status end = exchange.End();
  REQUIRE(absl::IsUnavailable(end));
  REQUIRE(Tells(end, "rank 2 was lost"));
  for (const std::size_t rank : {0U, 1U}) {
    const absl::Status told = exchange.client(rank).Exchange({}).status();
    REQUIRE(told == end);
    REQUIRE(exchange.client(rank).Exchange({}).status() == end);
  }
}

TEST_CASE("a rank that fails alone, or whose gradient ends training, ends the exchange for all") {
  const bool alone = GENERATE(true, false);
  Exchange exchange(2);
  if (alone) {
    exchange.client(1).Abort(runtime::Internal("torch: out of memory"));
  } else {
    const absl::Status told =
        exchange.client(1)
            .Exchange({.from = {4, 0}, .gradient = Gradient(1), .note = "worse"})
            .status();
    REQUIRE(absl::IsOutOfRange(told));
  }
  const absl::Status end = exchange.End();
  REQUIRE(end.code() == (alone ? absl::StatusCode::kAborted : absl::StatusCode::kOutOfRange));
  REQUIRE(Tells(end, alone ? "rank 1 failed alone: torch: out of memory" : "diverged"));
  REQUIRE(exchange.client(0).Exchange({}).status() == end);
}

TEST_CASE("a rank that is silent for too long is named, however busy the others are") {
  ExchangeOptions options = Options();
  options.call_timeout = std::chrono::milliseconds(200);
  Exchange exchange(2, options);
  absl::Status end;
  while (end.ok()) end = exchange.client(0).Exchange({}).status();
  REQUIRE(absl::IsDeadlineExceeded(end));
  REQUIRE(Tells(end, "rank 1"));
  REQUIRE(exchange.End() == end);
}

TEST_CASE("what is no message, or one of another size, is refused by the name of its sender") {
  const int wrong = GENERATE(0, 1, 2, 3, 4);
  Exchange exchange(2);
  const Deadline deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  if (wrong == 0) {
    const std::string noise(256, 'x');
    REQUIRE(SendAll(exchange.socket(1), std::as_bytes(std::span(noise)), deadline, "").ok());
  } else if (wrong <= 2) {
    Contribution contribution{.from = {4, 0}, .gradient = std::vector<float>(kSize)};
    if (wrong == 1) contribution.gradient.push_back(1);
    if (wrong == 2) contribution.note = std::string(65, 'x');
    REQUIRE(Send(exchange.socket(1), contribution, deadline, "").ok());
  } else {
    // Half a number, and a failure without a code.
    const CallHeader header{.kind = wrong == 3 ? CallKind::kContribution : CallKind::kFailure,
                            .bytes = 4 * kSize + 2};
    REQUIRE(SendValue(exchange.socket(1), header, deadline, "").ok());
  }
  const absl::Status end = exchange.End();
  INFO(end);
  REQUIRE(absl::IsInternal(end));
  REQUIRE(Tells(end, wrong == 4 ? "rank 1 tells of a failure that makes no sense"
                                : "rank 1 sent what is no message"));
  REQUIRE(exchange.client(0).Exchange({}).status() == end);
  REQUIRE(exchange.store.applied.empty());
}

}  // namespace shoal::collectives
