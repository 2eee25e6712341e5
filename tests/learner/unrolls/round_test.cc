// SPDX-License-Identifier: Apache-2.0
#include "learner/unrolls/round.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "tests/doubles/manual_clock.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/learner/unrolls/unroll_maker.h"

namespace shoal::learner {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Gives its unrolls, then lets one second pass at each call.
class ScriptedSource final : public UnrollSource {
 public:
  explicit ScriptedSource(doubles::ManualClock& clock) : clock_(clock) {}

  absl::StatusOr<replay::client::SampledUnroll> Next(milliseconds) override {
    ++calls;
    if (!unrolls.empty()) {
      replay::client::SampledUnroll sampled;
      sampled.unroll = std::move(unrolls.front());
      sampled.times_sampled = use;
      unrolls.pop_front();
      if (!probabilities.empty()) {
        sampled.probability = probabilities.front().first;
        sampled.least_probability = probabilities.front().second;
        probabilities.pop_front();
      }
      return sampled;
    }
    if (closed) return runtime::Cancelled("closed");
    clock_.Advance(seconds(1));
    return absl::DeadlineExceededError("none");
  }
  void Want(std::size_t count, const parameters::Version& played) override {
    wants.emplace_back(count, played);
  }

  std::deque<proto::Unroll> unrolls;
  // The probability of each unroll and the least of any; certain without.
  std::deque<std::pair<double, double>> probabilities;
  // How often the unrolls have been given out.
  std::uint32_t use = 1;
  bool closed = false;
  int calls = 0;
  std::vector<std::pair<std::size_t, parameters::Version>> wants;

 private:
  doubles::ManualClock& clock_;
};

struct Bench {
  explicit Bench(RoundOptions options)
      : ledger(*UnrollLedger::Create({.folder = folder.path()})),
        round(options, source, decoder, *ledger, quarantine, clock) {}

  std::vector<std::uint64_t> Collect(const parameters::Version& current = {1, 5}) {
    collected = *round.Collect(current, [] { return false; });
    std::vector<std::uint64_t> environments;
    for (const DecodedUnroll& unroll : collected) {
      environments.push_back(unroll.key.id.environment_id);
    }
    return environments;
  }

  doubles::TemporaryFolder folder;
  doubles::ManualClock clock;
  ScriptedSource source{clock};
  ContentTable contents{{.embedding_size = kEmbedding}};
  UnrollDecoder decoder{DiscreteSpec(), contents};
  std::unique_ptr<UnrollLedger> ledger;
  Quarantine quarantine = *Quarantine::Read(folder.At("quarantine"));
  Round round;
  std::vector<DecodedUnroll> collected;
};

using Environments = std::vector<std::uint64_t>;

TEST_CASE("a round is done when it has its share, in the order of arrival", "[round]") {
  Bench bench({.share = 2});
  bench.source.unrolls = {MakeDiscrete(3), MakeDiscrete(1), MakeDiscrete(2)};
  REQUIRE(bench.Collect() == Environments{3, 1});
  REQUIRE(bench.source.unrolls.size() == 1);
}

TEST_CASE("a round may be asked for fewer unrolls, for none at all, and still be stopped",
          "[round]") {
  Bench bench({.share = 3});
  bench.source.unrolls = {MakeDiscrete(3), MakeDiscrete(1)};
  const auto go_on = [] { return false; };
  REQUIRE(bench.round.Collect({1, 5}, go_on, 2)->size() == 1);
  REQUIRE(bench.round.Collect({1, 5}, go_on, 3)->empty());
  REQUIRE(bench.source.calls == 1);
  const auto stopped = bench.round.Collect(
      {1, 5}, [] { return true; }, 3);
  REQUIRE(absl::IsCancelled(stopped.status()));
}

TEST_CASE("what condemned versions did is refused, also if it came before they were condemned",
          "[round]") {
  Bench bench({.share = 2, .timeout = seconds(2), .off_policy = true});
  bench.source.unrolls = {MakeDiscrete(1, 2, 4), MakeDiscrete(2, 2, 5)};
  REQUIRE(bench.Collect() == Environments{1, 2});
  bench.round.Restore(std::move(bench.collected));
  bench.quarantine.Add({.first = {1, 5}, .last = {1, 6}});
  bench.source.unrolls = {MakeDiscrete(3, 2, 6), MakeDiscrete(4, 2, 7)};
  REQUIRE(bench.Collect({2, 0}) == Environments{1, 4});
  REQUIRE(bench.round.counts().condemned == 2);
}

TEST_CASE("a deterministic round waits past the timeout and sorts by id", "[round]") {
  Bench bench({.share = 3, .timeout = seconds(2), .deterministic = true});
  bench.source.unrolls = {MakeDiscrete(3), MakeDiscrete(1)};
  int polls = 0;
  const auto unrolls = bench.round.Collect({1, 5}, [&] {
    if (++polls == 20) bench.source.unrolls.push_back(MakeDiscrete(2));
    return false;
  });
  REQUIRE(unrolls.ok());
  REQUIRE(unrolls->size() == 3);
  REQUIRE((*unrolls)[0].key.id.environment_id == 1);
  REQUIRE((*unrolls)[2].key.id.environment_id == 3);
  REQUIRE(bench.round.counts().cut_short == 0);
}

TEST_CASE("a deterministic round wants what it lacks, drawn after the round of its version",
          "[round]") {
  Bench bench({.share = 3, .timeout = seconds(2), .off_policy = true, .deterministic = true});
  // The second one cannot be trained on, so another is wanted in its place.
  bench.quarantine.Add({.first = {1, 2}, .last = {1, 2}});
  bench.source.unrolls = {MakeDiscrete(1, 2, 4), MakeDiscrete(2, 2, 2), MakeDiscrete(3, 2, 4),
                          MakeDiscrete(4, 2, 4)};
  const parameters::Version current{1, 5};
  REQUIRE(bench.Collect(current) == Environments{1, 3, 4});
  REQUIRE(bench.source.wants == std::vector<std::pair<std::size_t, parameters::Version>>{
                                    {3, current}, {2, current}, {2, current}, {1, current}});
}

TEST_CASE("the timeout ends a round with what there is, and Restore keeps it", "[round]") {
  Bench bench({.share = 3, .timeout = seconds(2)});
  bench.source.unrolls = {MakeDiscrete(1)};
  const auto before = bench.clock.Now();
  REQUIRE(bench.Collect() == Environments{1});
  REQUIRE(bench.clock.Now() - before == seconds(2));
  REQUIRE(bench.round.counts().cut_short == 1);
  bench.round.Restore(std::move(bench.collected));
  bench.source.unrolls = {MakeDiscrete(1), MakeDiscrete(2), MakeDiscrete(3)};
  REQUIRE(bench.Collect() == Environments{1, 2, 3});
  REQUIRE(bench.round.counts().repeated == 1);
}

TEST_CASE("an unroll that was trained is never collected again", "[round]") {
  Bench bench({.share = 1, .timeout = seconds(2)});
  bench.source.unrolls = {MakeDiscrete(1)};
  REQUIRE(bench.Collect() == Environments{1});
  REQUIRE(bench.ledger->Append(1, 1, std::vector{bench.collected[0].key}).ok());
  bench.source.unrolls = {MakeDiscrete(1), MakeDiscrete(2)};
  REQUIRE(bench.Collect() == Environments{2});
  REQUIRE(bench.round.counts().repeated == 1);
}

TEST_CASE("an unroll that replay gives out again is trained again, and each use once", "[round]") {
  Bench bench({.share = 1, .timeout = seconds(2)});
  for (std::uint32_t use = 1; use <= 3; ++use) {
    bench.source.use = use;
    bench.source.unrolls = {MakeDiscrete(1)};
    REQUIRE(bench.Collect() == Environments{1});
    REQUIRE(bench.collected[0].key.use == use);
    REQUIRE(bench.ledger->Append(1, use, std::vector{bench.collected[0].key}).ok());
  }
  bench.source.use = 2;
  bench.source.unrolls = {MakeDiscrete(1)};
  REQUIRE(bench.Collect().empty());
  REQUIRE(bench.round.counts().repeated == 1);
  // No shard counts from 0.
  bench.source.use = 0;
  bench.source.unrolls = {MakeDiscrete(2)};
  REQUIRE(bench.Collect().empty());
  REQUIRE(bench.round.counts().invalid == 1);
}

TEST_CASE("unrolls behind max_lag or of another epoch are dropped", "[round]") {
  Bench bench({.share = 2, .timeout = seconds(2), .max_lag = 2});
  bench.source.unrolls = {MakeDiscrete(1, 2, 3), MakeDiscrete(2, 2, 2), MakeDiscrete(3, 2, 5)};
  REQUIRE(bench.Collect({1, 5}) == Environments{1, 3});
  REQUIRE(bench.round.counts().stale == 1);
  bench.source.unrolls = {MakeDiscrete(4)};
  REQUIRE(bench.Collect({2, 0}).empty());
  REQUIRE(bench.round.counts().stale == 2);
}

TEST_CASE("off policy, unrolls of any epoch are trained on as often as replay gives them out",
          "[round]") {
  Bench bench({.share = 3, .timeout = seconds(2), .off_policy = true});
  bench.source.unrolls = {MakeDiscrete(1), MakeDiscrete(1), MakeDiscrete(2)};
  REQUIRE(bench.Collect({2, 0}) == Environments{1, 1, 2});
  REQUIRE(bench.ledger->Append(1, 1, std::vector{bench.collected[0].key}).ok());
  bench.source.unrolls = {MakeDiscrete(1), MakeDiscrete(3), MakeDiscrete(2)};
  REQUIRE(bench.Collect({2, 1}) == Environments{1, 3, 2});
  REQUIRE(bench.round.counts().repeated == 0);
  REQUIRE(bench.round.counts().stale == 0);
}

TEST_CASE("a sample whose probability is none counts like one that was certain", "[round]") {
  Bench bench({.share = 3, .timeout = seconds(2), .off_policy = true});
  bench.source.probabilities = {{0.5, 0.25}, {0, 0.1}, {std::nan(""), 1e300}};
  bench.source.unrolls = {MakeDiscrete(1), MakeDiscrete(2), MakeDiscrete(3)};
  bench.Collect();
  REQUIRE(bench.collected[0].probability == 0.5);
  REQUIRE(bench.collected[0].least_probability == 0.25);
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
    REQUIRE(bench.collected[i].probability == 1);
    REQUIRE(bench.collected[i].least_probability == 1);
  }
}

TEST_CASE("what was restored and became stale meanwhile is dropped", "[round]") {
  Bench bench({.share = 2, .timeout = seconds(2), .max_lag = 2});
  bench.source.unrolls = {MakeDiscrete(1)};
  REQUIRE(bench.Collect() == Environments{1});
  bench.round.Restore(std::move(bench.collected));
  REQUIRE(bench.Collect({1, 8}).empty());
  REQUIRE(bench.round.counts().stale == 1);
}

TEST_CASE("an unroll that does not decode is dropped and counted", "[round]") {
  Bench bench({.share = 1, .timeout = seconds(2)});
  proto::Unroll broken = MakeDiscrete(1);
  broken.set_length(0);
  bench.source.unrolls = {broken, proto::Unroll(), MakeDiscrete(2)};
  REQUIRE(bench.Collect() == Environments{2});
  REQUIRE(bench.round.counts().invalid == 2);
}

TEST_CASE("a stop and a closed source end a round", "[round]") {
  Bench bench({.share = 1});
  REQUIRE(absl::IsCancelled(bench.round.Collect({1, 5}, [] { return true; }).status()));
  REQUIRE(bench.source.calls == 0);
  bench.source.closed = true;
  REQUIRE(absl::IsCancelled(bench.round.Collect({1, 5}, [] { return false; }).status()));
}

}  // namespace
}  // namespace shoal::learner
