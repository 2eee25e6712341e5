// SPDX-License-Identifier: Apache-2.0
// Inference servers that a file adds and removes while a loop plays.
#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "actor/loop/environment_loop.h"
#include "platform/runtime/atomic_file.h"
#include "tests/actor/loop/scripted_environment.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/inference/client/scripted_server.h"

namespace shoal::actor {
namespace {

using test::Agree;
using test::RowsOf;
using test::Scripted;
using test::ScriptedServer;
using test::SeenRow;

constexpr std::uint64_t kEnvironments = 16;
constexpr std::uint32_t kEnds = proto::ROW_FLAG_TERMINATED | proto::ROW_FLAG_TRUNCATED;

// Sixteen environments, each a block of its own.
class Play {
 public:
  explicit Play(const std::vector<std::string>& servers,
                UniformSource source = test::ScriptedSource())
      : source_(std::move(source)) {
    Name(servers);
    LoopOptions options = test::Options("", kEnvironments);
    options.inference = *transport::AddressList::Create({}, file(), "inference server");
    options.block_size = 1;
    loop_ = std::make_unique<EnvironmentLoop>(std::move(options), source_, plan_, actor_metrics_);
    loop_->Start(test::Ignore);
  }
  void Name(const std::vector<std::string>& servers) {
    std::string text;
    for (const std::string& server : servers) text += server + "\n";
    REQUIRE(runtime::WriteFileAtomically(file(), text).ok());
  }
  void Stop() { loop_->Stop(); }

 private:
  std::string file() const { return folder_.At("servers"); }

  doubles::TemporaryFolder folder_;
  const UniformSource source_;
  runtime::Metrics metrics_;
  ActorMetrics actor_metrics_{metrics_};
  TrainingPlan plan_{{.environments = kEnvironments}};
  std::unique_ptr<EnvironmentLoop> loop_;
};

std::set<std::uint64_t> EnvironmentsOf(const std::vector<SeenRow>& rows) {
  std::set<std::uint64_t> environments;
  for (const SeenRow& row : rows) environments.insert(row.environment_id);
  return environments;
}

bool AllPlay(const std::vector<SeenRow>& rows) {
  return EnvironmentsOf(rows).size() == kEnvironments;
}

bool AllEnded(const std::vector<SeenRow>& rows) {
  for (const std::uint64_t environment : EnvironmentsOf(rows)) {
    if ((RowsOf(rows, environment).back().flags & kEnds) == 0) return false;
  }
  return true;
}

TEST_CASE("A server that is added gets its share of environments, each with its next episode") {
  ScriptedServer first(Agree);
  ScriptedServer second(Agree);
  Play play({first.address()});
  REQUIRE(first.Await(AllPlay));
  play.Name({first.address(), second.address()});
  REQUIRE(second.Await([](const auto& rows) { return rows.size() >= 200; }));
  play.Stop();
  const std::set<std::uint64_t> moved = EnvironmentsOf(second.rows());
  REQUIRE(moved.size() < kEnvironments);
  for (const std::uint64_t environment : moved) {
    const SeenRow last = RowsOf(first.rows(), environment).back();
    const SeenRow next = RowsOf(second.rows(), environment).front();
    REQUIRE((last.flags & kEnds) != 0);
    REQUIRE(next.flags == proto::ROW_FLAG_FIRST);
    REQUIRE(next.sequence == last.sequence + 1);
    REQUIRE(next.episode_id == last.episode_id + 1);
  }
}

TEST_CASE("A server that is removed sees all of its episodes end and none begin") {
  ScriptedServer first(Agree);
  ScriptedServer second(Agree);
  Play play({first.address()});
  REQUIRE(first.Await(AllPlay));
  play.Name({second.address()});
  REQUIRE(second.Await(AllPlay));
  REQUIRE(first.Await(AllEnded));
  const std::size_t rows = first.rows().size();
  REQUIRE(second.Await([](const auto& seen) { return seen.size() >= 2000; }));
  REQUIRE(first.rows().size() == rows);
  play.Name({first.address()});
  REQUIRE(first.Await([&](const auto& seen) { return seen.size() >= rows + 200; }));
  play.Stop();
  for (std::uint64_t environment = 0; environment < kEnvironments; ++environment) {
    const auto own = RowsOf(second.rows(), environment);
    REQUIRE(own.front().flags == proto::ROW_FLAG_FIRST);
  }
}

TEST_CASE("Episodes at a server that is gone and removed are cut off and others begun elsewhere") {
  // It never answers row 2.
  auto first = std::make_unique<ScriptedServer>([](const SeenRow& row) {
    return row.sequence == 2 ? Scripted{.status = proto::ROW_OVERLOADED} : Agree(row);
  });
  ScriptedServer second(Agree);
  Play play({first->address()});
  REQUIRE(first->Await([](const auto& rows) { return rows.size() >= 3 * kEnvironments; }));
  first.reset();
  play.Name({second.address()});
  REQUIRE(second.Await(AllPlay));
  play.Stop();
  for (std::uint64_t environment = 0; environment < kEnvironments; ++environment) {
    const SeenRow next = RowsOf(second.rows(), environment).front();
    REQUIRE(next.flags == proto::ROW_FLAG_FIRST);
    REQUIRE(next.sequence == 3);
    REQUIRE(next.episode_id == 2);
  }
}

// Plays episodes of four steps, all of which end by themselves.
class ShortEnvironment final : public Environment {
 public:
  void Reset(const EpisodeStart&, Done done) override {
    steps_ = 0;
    done(Transition{.observation = {.numeric = {0, 0}}});
  }
  void Step(std::int64_t, Done done) override {
    const End end = ++steps_ == 4 ? End::kTerminated : End::kNone;
    done(Transition{.observation = {.numeric = {0, 0}}, .end = end});
  }
  EpisodeFacts facts() const override { return {.goal = "g", .capture = "c"}; }

 private:
  int steps_ = 0;
};

TEST_CASE("Episodes begin at a server that was connected before any environment moved to it") {
  std::atomic<bool> answers = true;
  ScriptedServer first([&](const SeenRow& row) {
    return answers ? Agree(row) : Scripted{.status = proto::ROW_OVERLOADED};
  });
  ScriptedServer second(Agree);
  Play play({first.address()},
            UniformSource(test::ScriptedSource().spec(), {{.goal = "g", .capture = "c"}},
                          [] { return std::make_unique<ShortEnvironment>(); }));
  REQUIRE(first.Await(AllPlay));
  answers = false;
  play.Name({second.address()});
  REQUIRE(second.AwaitHello());
  answers = true;
  REQUIRE(second.Await(AllPlay));
  play.Stop();
}

}  // namespace
}  // namespace shoal::actor
