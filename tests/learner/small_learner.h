// SPDX-License-Identifier: Apache-2.0
// Learners that are small enough for a run to take a moment, alone or as a group of ranks.
#pragma once

#include <absl/strings/str_split.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "learner/learner.h"
#include "platform/runtime/atomic_file.h"
#include "replay/wire.h"
#include "rl/training/checkpoint.h"
#include "tests/doubles/eventually.h"
#include "tests/doubles/ranks.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/learner/unrolls/unroll_maker.h"
#include "tests/replay/shard_server.h"

namespace shoal::learner {

inline constexpr std::size_t kRanks = 2;
inline constexpr std::int64_t kUpdates = 4;
// A finite reward whose squares are not.
inline constexpr float kTooMuch = std::numeric_limits<float>::max();

// A member of a group whose sum of floats, which happens once in an update here, throws at one
// update. To the trainer this is an exception of torch on this rank alone. It can also tell of each
// such sum, and fail those of doubles from some moment on.
class ThrowingReducer : public collectives::GradientReducer {
 public:
  using OnSum = std::function<void(int sum)>;
  using HasDied = std::function<bool()>;

  ThrowingReducer(collectives::GradientReducer& inner, int throws_at, OnSum on_sum = {},
                  HasDied has_died = {})
      : inner_(inner),
        throws_at_(throws_at),
        on_sum_(std::move(on_sum)),
        has_died_(std::move(has_died)) {}

  std::int64_t rank() const override { return inner_.rank(); }
  std::int64_t world_size() const override { return inner_.world_size(); }
  absl::Status AllReduceSum(std::span<float> values) override {
    if (++sums_ == throws_at_) throw std::runtime_error("[enforce fail] out of memory");
    if (on_sum_) on_sum_(sums_);
    return inner_.AllReduceSum(values);
  }
  absl::Status AllReduceSum(std::span<double> values) override {
    if (has_died_ && has_died_()) return runtime::Unavailable("killed");
    return inner_.AllReduceSum(values);
  }
  absl::Status AllReduceSumCompressed(std::span<float> values, std::span<float> residual) override {
    return inner_.AllReduceSumCompressed(values, residual);
  }
  bool compresses(std::size_t elements) const override { return inner_.compresses(elements); }
  absl::Status AllReduceMax(std::span<double> values) override {
    return inner_.AllReduceMax(values);
  }
  absl::Status AllReduceMin(std::span<double> values) override {
    return inner_.AllReduceMin(values);
  }
  absl::Status ReduceScatterSum(std::span<float> values) override {
    return inner_.ReduceScatterSum(values);
  }
  absl::Status AllGather(std::span<float> values) override { return inner_.AllGather(values); }
  absl::Status Broadcast(std::span<std::byte> bytes) override { return inner_.Broadcast(bytes); }
  absl::Status Barrier() override { return inner_.Barrier(); }
  void Abort(const absl::Status& reason) override { inner_.Abort(reason); }
  absl::StatusOr<std::vector<int>> TakeConnections() override { return inner_.TakeConnections(); }

 private:
  collectives::GradientReducer& inner_;
  const int throws_at_;
  const OnSum on_sum_;
  const HasDied has_died_;
  int sums_ = 0;
};

inline LearnerSetup Setup(const doubles::TemporaryFolder& folder, const std::string& shard) {
  LearnerSetup setup;
  setup.policy = DiscreteSpec();
  setup.algorithm.minibatches = 1;
  setup.algorithm.update_epochs = 1;
  setup.learner.round_unrolls = 2 * static_cast<std::int64_t>(kRanks);
  setup.learner.round_timeout_ms = 20'000;
  setup.learner.max_lag = 0;
  setup.learner.checkpoint_every_updates = 1;
  setup.learner.updates = kUpdates;
  setup.run.directory = folder.path();
  setup.first_epoch = 1;
  setup.cluster.replay = {shard};
  return setup;
}

// Adds unrolls of the epoch. Their rewards are `reward`.
inline void Insert(replay::Shard& shard, std::int64_t epoch, std::uint64_t first,
                   std::uint64_t count, float reward) {
  for (std::uint64_t i = first; i < first + count; ++i) {
    proto::Unroll unroll = MakeDiscrete(static_cast<std::uint64_t>(100 * epoch) + i, 2, 0);
    SetColumn(Column(unroll, "reward"), "reward", proto::FLOAT32, {2},
              std::vector<float>(2, reward));
    SetColumn(Column(unroll, "policy_epoch"), "policy_epoch", proto::INT64, {2},
              std::vector<std::int64_t>(2, epoch));
    proto::Item message;
    *message.mutable_id() = unroll.id();
    message.set_table("unrolls");
    message.mutable_oldest_version()->set_epoch(static_cast<std::uint64_t>(epoch));
    *message.mutable_newest_version() = message.oldest_version();
    message.set_steps(2);
    message.set_payload(unroll.SerializeAsString());
    auto item = replay::FromProto(message, std::size_t{1} << 20);
    REQUIRE(item.ok());
    REQUIRE(shard.Insert("unrolls", *item).ok());
  }
}

// Adds unrolls of the epoch, more than the updates take.
inline void Fill(replay::Shard& shard, std::int64_t epoch) { Insert(shard, epoch, 0, 32, 1); }

// Runs the group until every rank has ended. The last rank throws at update `throws_at`, or never
// if 0.
inline std::vector<absl::Status> RunLearners(const LearnerSetup& setup, int throws_at) {
  return doubles::TryRanks(kRanks, [&](std::size_t rank, collectives::GradientReducer& group) {
    auto member = std::make_unique<ThrowingReducer>(group, rank + 1 == kRanks ? throws_at : 0);
    SHOAL_ASSIGN_OR_RETURN(const auto learner, Learner::Create(setup, std::move(member)));
    return learner->Run();
  });
}

inline std::vector<nlohmann::json> Lines(const LearnerSetup& setup) {
  const std::string written = runtime::ReadFile(setup.run.path() + "/learner.jsonl").value();
  std::vector<nlohmann::json> lines;
  const std::vector<std::string> texts = absl::StrSplit(written, '\n', absl::SkipEmpty());
  for (const std::string& line : texts) {
    lines.push_back(nlohmann::json::parse(line));
  }
  return lines;
}

// A learner of one rank for which the breaker orders a rollback as soon as numbers are not finite.
// Checkpoints are of updates 0, 3 and 6.
inline LearnerSetup RollingBackAtOnce(const doubles::TemporaryFolder& folder,
                                      replay::ShardServer& shard) {
  LearnerSetup setup = Setup(folder, shard.address());
  setup.learner.checkpoint_every_updates = 3;
  setup.learner.checkpoint_every_seconds = 1e6;
  setup.learner.updates = 8;
  setup.learner.breaker.max_skips = 1;
  setup.learner.breaker.probation_updates = 1;
  return setup;
}

// The same, with rewards beyond all bounds in the eighth update, and what is trained on under the
// next epoch.
inline LearnerSetup GoingAstray(const doubles::TemporaryFolder& folder,
                                replay::ShardServer& shard) {
  Insert(shard.shard(), 1, 0, 28, 1);
  Insert(shard.shard(), 1, 28, 4, kTooMuch);
  Fill(shard.shard(), 2);
  return RollingBackAtOnce(folder, shard);
}

inline absl::Status RunAlone(const LearnerSetup& setup, const ThrowingReducer::OnSum& on_sum,
                             const ThrowingReducer::HasDied& has_died = {}) {
  collectives::SingleRank alone;
  SHOAL_ASSIGN_OR_RETURN(
      const auto learner,
      Learner::Create(setup, std::make_unique<ThrowingReducer>(alone, 0, on_sum, has_died)));
  return learner->Run();
}

// Waits until a checkpoint that a learner has begun is on disk.
inline void AwaitCheckpoint(const LearnerSetup& setup, std::int64_t number) {
  const std::string latest = setup.run.path() + "/checkpoints/LATEST";
  doubles::Eventually([&] {
    return runtime::ReadFile(latest).value_or("").ends_with(std::to_string(number) + "\n");
  });
}

inline std::int64_t NewestCheckpoint(const LearnerSetup& setup) {
  const auto checkpoint = training::ReadNewestCheckpoint(setup.run.path() + "/checkpoints");
  REQUIRE(checkpoint.ok());
  return checkpoint->number;
}

// Whether the shard takes an unroll that was played by this step of the first epoch's policy.
inline bool TakesUnrollOf(replay::ShardServer& shard, std::uint64_t step) {
  proto::Item item;
  item.set_table("unrolls");
  item.mutable_id()->set_environment_id(1000 + step);
  item.mutable_oldest_version()->set_epoch(1);
  item.mutable_oldest_version()->set_step(step);
  *item.mutable_newest_version() = item.oldest_version();
  item.set_steps(1);
  item.set_payload("an unroll");
  auto parsed = replay::FromProto(item, std::size_t{1} << 20);
  REQUIRE(parsed.ok());
  return shard.shard().Insert("unrolls", *parsed).ok();
}

}  // namespace shoal::learner
