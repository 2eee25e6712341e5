// SPDX-License-Identifier: Apache-2.0
#include "learner/learner.h"

#include <absl/strings/str_split.h>
#include <grpcpp/client_context.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "learner/unrolls/quarantine.h"
#include "platform/content/canonical_json.h"
#include "platform/runtime/atomic_file.h"
#include "platform/transport/channel.h"
#include "platform/transport/health_client.h"
#include "platform/transport/protocol.h"
#include "proto/parameters.grpc.pb.h"
#include "rl/collectives/measured_reducer.h"
#include "rl/demonstrations/demonstration_file.h"
#include "rl/training/checkpoint.h"
#include "tests/doubles/ranks.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/learner/small_learner.h"
#include "tests/learner/unrolls/unroll_maker.h"
#include "tests/replay/shard_server.h"

namespace shoal::learner {
TEST_CASE(
    "a run starts from the checkpoint of another one, and with a larger network if it is asked "
    "to") {
  const doubles::TemporaryFolder folder;
  {
    replay::ShardServer shard({.name = "unrolls"});
    Fill(shard.shard(), 1);
    for (const absl::Status& end : RunLearners(Setup(folder, shard.address()), 0)) {
      REQUIRE(end.ok());
    }
  }
  replay::ShardServer shard({.name = "unrolls"});
  Fill(shard.shard(), 1);
  LearnerSetup setup = Setup(folder, shard.address());
  setup.learner.start_from = setup.run.path();
  setup.learner.updates = 2 * kUpdates;
  setup.run.name = "larger";
  setup.policy.hidden = {300, 256};
  for (const absl::Status& refused : RunLearners(setup, 0)) {
    INFO(refused);
    REQUIRE(absl::IsFailedPrecondition(refused));
    REQUIRE(runtime::Message(refused).find("torso.0.weight [256, 2] to [300, 2]") !=
            std::string::npos);
    REQUIRE(runtime::Message(refused).starts_with("learner.start_from: "));
  }
  setup.learner.fit_parameters = true;
  for (const absl::Status& end : RunLearners(setup, 0)) {
    INFO(end);
    REQUIRE(end.ok());
  }
  REQUIRE(NewestCheckpoint(setup) == 2 * kUpdates);
  const auto fitted =
      nlohmann::json::parse(runtime::ReadFile(setup.run.path() + "/fitted.json").value());
  REQUIRE(fitted["changed"][0] == "torso.0.weight [256, 2] to [300, 2]");
  REQUIRE(fitted["dropped"].empty());
  setup.run.name = "lost";
  setup.learner.start_from = folder.At("nowhere");
  const absl::Status lost = RunLearners(setup, 0)[0];
  REQUIRE(absl::IsNotFound(lost));
  REQUIRE(runtime::Message(lost).find("learner.start_from") != std::string::npos);
}

// Runs a group whose ranks have folders of their own, and returns the digests of the parameters
// that they resumed and that they ended with. Rank 0 calls `on_sum`.
std::vector<std::pair<std::string, std::string>> RunApart(
    const std::vector<LearnerSetup>& setups, const ThrowingReducer::OnSum& on_sum = {}) {
  std::vector<std::pair<std::string, std::string>> digests(setups.size());
  const auto ends = doubles::TryRanks(
      setups.size(), [&](std::size_t rank, collectives::GradientReducer& group) -> absl::Status {
        SHOAL_ASSIGN_OR_RETURN(
            const auto learner,
            Learner::Create(setups[rank],
                            std::make_unique<ThrowingReducer>(
                                group, 0, rank == 0 ? on_sum : ThrowingReducer::OnSum())));
        digests[rank].first = learner->Digest();
        SHOAL_RETURN_IF_ERROR(learner->Run());
        digests[rank].second = learner->Digest();
        return absl::OkStatus();
      });
  for (const absl::Status& end : ends) {
    INFO(end);
    REQUIRE(end.ok());
  }
  return digests;
}

TEST_CASE(
    "a group passes over a checkpoint that one folder knows to be condemned, and removes it") {
  const doubles::TemporaryFolder folder;
  const doubles::TemporaryFolder other;
  replay::ShardServer shard({.name = "unrolls"});
  Fill(shard.shard(), 1);
  const std::vector<LearnerSetup> setups = {Setup(folder, shard.address()),
                                            Setup(other, shard.address())};
  RunApart(setups);
  // As a rollback leaves it that is killed before it has removed what it goes back from.
  auto quarantine = Quarantine::Read(setups[1].run.path() + "/quarantine").value();
  quarantine.Add({.first = {1, kUpdates}, .last = {1, kUpdates}});
  REQUIRE(quarantine.Write().ok());
  Fill(shard.shard(), 2);
  std::int64_t newest = -1;
  const auto digests = RunApart(setups, [&](int) { newest = NewestCheckpoint(setups[0]); });
  REQUIRE(newest == kUpdates - 1);
  REQUIRE(digests[0] == digests[1]);
  const std::vector<nlohmann::json> lines = Lines(setups[0]);
  REQUIRE(lines.size() == kUpdates + 1);
  REQUIRE(lines.back()["update"] == kUpdates);
  REQUIRE(lines.back()["epoch"] == 2);
  for (const LearnerSetup& setup : setups) REQUIRE(NewestCheckpoint(setup) == kUpdates);
}

TEST_CASE(
    "a rank that was away brings back condemned checkpoints, and good ones of these numbers stay") {
  const doubles::TemporaryFolder folder;
  const doubles::TemporaryFolder away;
  replay::ShardServer shard({.name = "unrolls"});
  Fill(shard.shard(), 1);
  LearnerSetup here = Setup(folder, shard.address());
  LearnerSetup there = Setup(away, shard.address());
  RunApart({here, there});
  // What a rollback condemns while the other node is away, and what is trained again.
  auto quarantine = Quarantine::Read(here.run.path() + "/quarantine").value();
  quarantine.Add({.first = {1, kUpdates - 1}, .last = {1, kUpdates}});
  REQUIRE(quarantine.Write().ok());
  Fill(shard.shard(), 2);
  REQUIRE(RunAlone(here, {}).ok());
  REQUIRE(Lines(here).back()["epoch"] == 2);
  // More ranks have the condemned ones than the good ones.
  Fill(shard.shard(), 3);
  here.learner.updates = there.learner.updates = kUpdates + 1;
  RunApart({here, there, there});
  const std::vector<nlohmann::json> lines = Lines(here);
  REQUIRE(lines.size() == kUpdates + 2 + 1);
  REQUIRE(lines.back()["update"] == kUpdates + 1);
  REQUIRE(lines.back()["epoch"] == 3);
  REQUIRE_FALSE(std::filesystem::exists(there.run.path() + "/checkpoints/checkpoint-000000000003"));
  REQUIRE(std::filesystem::exists(here.run.path() + "/checkpoints/checkpoint-000000000003"));
}

TEST_CASE("ranks that share no folder go on with the same bits, although one folder is lost") {
  const std::size_t lost = GENERATE(0U, 1U);
  const doubles::TemporaryFolder folder;
  const doubles::TemporaryFolder other;
  std::vector<std::string> ended_with;
  for (std::int64_t epoch = 1; epoch <= 2; ++epoch) {
    replay::ShardServer shard({.name = "unrolls"});
    Fill(shard.shard(), epoch);
    std::vector<LearnerSetup> setups = {Setup(folder, shard.address()),
                                        Setup(other, shard.address())};
    for (LearnerSetup& setup : setups) setup.learner.updates = epoch * kUpdates;
    const auto digests = RunApart(setups);
    REQUIRE(digests[0] == digests[1]);
    if (epoch == 2) REQUIRE(digests[0].first == ended_with[0]);
    ended_with.push_back(digests[0].second);
    for (const LearnerSetup& setup : setups) {
      REQUIRE(NewestCheckpoint(setup) == epoch * kUpdates);
      REQUIRE(*runtime::ReadFile(setup.run.path() + "/epoch") == std::to_string(epoch) + "\n");
    }
    std::filesystem::remove_all(setups[lost].run.path());
  }
}

TEST_CASE("ranks that share no folder save the same steps, although one has heard of more") {
  const doubles::TemporaryFolder folder;
  const doubles::TemporaryFolder other;
  const replay::TableOptions table = {.name = "unrolls",
                                      .sampler = replay::SelectorKind::kUniform,
                                      .remover = replay::SelectorKind::kFifo,
                                      .max_times_sampled = 0};
  replay::ShardServer first(table);
  replay::ShardServer second(table);
  Insert(first.shard(), 1, 0, 16, 1);
  Insert(second.shard(), 1, 0, 16, 1);
  std::vector<LearnerSetup> setups = {Setup(folder, first.address()),
                                      Setup(other, second.address())};
  for (LearnerSetup& setup : setups) {
    setup.policy.action_values = true;
    setup.algorithm.name = "dqn";
    setup.learner.updates = 3 * kUpdates;
  }
  (void)RunApart(setups, [&](int sum) {
    Insert(first.shard(), 1, 16 * static_cast<std::uint64_t>(sum), 16, 1);
  });
  REQUIRE(Lines(setups[0]).back()["environment_steps"] > 0);
  for (const LearnerSetup& setup : setups) REQUIRE(NewestCheckpoint(setup) == 3 * kUpdates);
}

TEST_CASE("a round has as many unrolls for any number of ranks") {
  for (std::int64_t ranks = 1; ranks <= 40; ++ranks) {
    std::int64_t together = 0;
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
      const std::int64_t share = UnrollsOfRank(32, rank, ranks);
      REQUIRE(share <= UnrollsOfRank(32, 0, ranks));
      REQUIRE(share >= UnrollsOfRank(32, 0, ranks) - 1);
      together += share;
    }
    // One each where there are fewer than ranks.
    REQUIRE(together == std::max<std::int64_t>(32, ranks));
  }
  const doubles::TemporaryFolder folder;
  const doubles::TemporaryFolder second;
  const doubles::TemporaryFolder third;
  replay::ShardServer shard({.name = "unrolls"});
  Fill(shard.shard(), 1);
  std::vector<LearnerSetup> setups = {Setup(folder, shard.address()),
                                      Setup(second, shard.address()),
                                      Setup(third, shard.address())};
  for (LearnerSetup& setup : setups) setup.learner.round_unrolls = 4;
  (void)RunApart(setups);
  const std::string rows = runtime::ReadFile(setups[0].run.path() + "/learner.jsonl").value();
  std::int64_t updates = 0;
  for (const auto line : absl::StrSplit(rows, '\n', absl::SkipEmpty())) {
    REQUIRE(nlohmann::json::parse(line.begin(), line.end())["unrolls"] == 4);
    ++updates;
  }
  REQUIRE(updates == kUpdates);
}

TEST_CASE("when torch throws on one rank all ranks end, and go on from the checkpoint after") {
  const doubles::TemporaryFolder folder;
  {
    replay::ShardServer shard({.name = "unrolls"});
    Fill(shard.shard(), 1);
    const LearnerSetup setup = Setup(folder, shard.address());
    const std::vector<absl::Status> ends = RunLearners(setup, 3);
    INFO(ends[0] << "\n" << ends[1]);
    REQUIRE(absl::IsAborted(ends[0]));
    REQUIRE(runtime::Message(ends[0]).find("rank 1 failed alone: update: [enforce fail]") !=
            std::string::npos);
    REQUIRE(absl::IsInternal(ends[1]));
    REQUIRE(NewestCheckpoint(setup) == 2);
  }
  replay::ShardServer shard({.name = "unrolls"});
  Fill(shard.shard(), 2);
  const LearnerSetup setup = Setup(folder, shard.address());
  const std::vector<absl::Status> ends = RunLearners(setup, 0);
  INFO(ends[0] << "\n" << ends[1]);
  REQUIRE(ends[0].ok());
  REQUIRE(ends[1].ok());
  REQUIRE(NewestCheckpoint(setup) == kUpdates);
}

TEST_CASE("two ranks that compress their gradients send half as many bytes, and stay the same") {
  std::vector<double> bytes;
  for (const char* compression : {"none", "bfloat16"}) {
    const doubles::TemporaryFolder folder;
    replay::ShardServer shard({.name = "unrolls"});
    Fill(shard.shard(), 1);
    LearnerSetup setup = Setup(folder, shard.address());
    setup.learner.gradient_compression = compression;
    setup.learner.verify_ranks = true;
    const auto ends = doubles::TryRanks(
        kRanks,
        [&](std::size_t, collectives::GradientReducer& group) -> absl::Status {
          auto measured = std::make_unique<collectives::MeasuredReducer>(
              std::make_unique<ThrowingReducer>(group, 0), nullptr, std::chrono::seconds(60));
          SHOAL_ASSIGN_OR_RETURN(const auto learner, Learner::Create(setup, std::move(measured)));
          return learner->Run();
        },
        doubles::PatientGroup(std::int64_t{1} << 16));
    for (const absl::Status& end : ends) {
      INFO(end);
      REQUIRE(end.ok());
    }
    bytes.push_back(Lines(setup).back()["communication_bytes"]);
  }
  // Beside gradients of 0.3 MB there are some hundred bytes of other numbers.
  REQUIRE(bytes[0] > 200'000);
  REQUIRE(bytes[1] == Approx(bytes[0] / 2).epsilon(0.01));
}

TEST_CASE("gradients that do not go around a ring are not compressed, and the knob says so") {
  const doubles::TemporaryFolder folder;
  LearnerSetup setup = Setup(folder, "127.0.0.1:1");
  setup.learner.gradient_compression = "bfloat16";
  std::string named;
  SECTION("without a ring") {
    setup.learner.ring_min_bytes = 0;
    named = "learner.ring_min_bytes";
  }
  SECTION("over NCCL") {
    setup.learner.reduction = "nccl";
    named = "learner.reduction";
  }
  SECTION("to rank 0 one by one") {
    setup.learner.gradients = "asynchronous";
    named = "learner.gradients";
  }
  const absl::Status refused =
      Learner::Create(setup, std::make_unique<collectives::SingleRank>()).status();
  INFO(refused);
  REQUIRE(absl::IsInvalidArgument(refused));
  REQUIRE(runtime::Message(refused).starts_with("learner.gradient_compression: "));
  REQUIRE(runtime::Message(refused).find(named) != std::string::npos);
}

TEST_CASE("unrolls that are given out twice are reused as often by each pass of an update") {
  const std::uint32_t uses = GENERATE(1U, 2U);
  const std::size_t ranks = uses == 1 ? kRanks : 1;
  const doubles::TemporaryFolder folder;
  replay::ShardServer shard({.name = "unrolls", .max_times_sampled = uses});
  Fill(shard.shard(), 1);
  LearnerSetup setup = Setup(folder, shard.address());
  setup.algorithm.update_epochs = 3;
  const auto ends = doubles::TryRanks(ranks, [&](std::size_t, collectives::GradientReducer& group) {
    SHOAL_ASSIGN_OR_RETURN(const auto learner,
                           Learner::Create(setup, std::make_unique<ThrowingReducer>(group, 0)));
    return learner->Run();
  });
  for (const absl::Status& end : ends) REQUIRE(end.ok());
  // Replay gives each out for the first time, and right after that for the second.
  const double mean_use = uses == 1 ? 1 : 1.5;
  const std::string written = runtime::ReadFile(setup.run.path() + "/learner.jsonl").value();
  const std::vector<std::string> lines = absl::StrSplit(written, '\n', absl::SkipEmpty());
  REQUIRE(lines.size() == kUpdates);
  for (const std::string& line : lines) {
    REQUIRE(nlohmann::json::parse(line).at("sample_reuse") == 3 * mean_use);
  }
}

TEST_CASE("rewards beyond all bounds on one rank cost all ranks the same update") {
  const doubles::TemporaryFolder folder;
  replay::ShardServer shard({.name = "unrolls"});
  Insert(shard.shard(), 1, 0, 1, kTooMuch);
  Insert(shard.shard(), 1, 1, 31, 1);
  LearnerSetup setup = Setup(folder, shard.address());
  setup.learner.verify_ranks = true;
  for (const absl::Status& end : RunLearners(setup, 0)) {
    INFO(end);
    REQUIRE(end.ok());
  }
  REQUIRE(NewestCheckpoint(setup) == kUpdates);
  const std::vector<nlohmann::json> lines = Lines(setup);
  REQUIRE(lines.size() == kUpdates + 1);
  int undone = 0;
  for (const nlohmann::json& line : lines) {
    if (!line.contains("action")) continue;
    ++undone;
    REQUIRE(line["reason"] == "not_finite");
    REQUIRE(line["action"] == "skip");
  }
  REQUIRE(undone == 1);
  REQUIRE(lines.back()["epoch"] == 1);
}

TEST_CASE(
    "after updates that were undone all ranks learn more gently, until it went well a while") {
  const doubles::TemporaryFolder folder;
  replay::ShardServer shard({.name = "unrolls"});
  Insert(shard.shard(), 1, 0, 1, kTooMuch);
  Insert(shard.shard(), 1, 1, 31, 1);
  LearnerSetup setup = Setup(folder, shard.address());
  setup.learner.verify_ranks = true;
  setup.algorithm.kl_coefficient = 0.5;
  setup.algorithm.kl_target = 0;
  setup.learner.breaker.soften_skips = 1;
  setup.learner.breaker.soften_updates = 2;
  for (const absl::Status& end : RunLearners(setup, 0)) {
    INFO(end);
    REQUIRE(end.ok());
  }
  std::vector<nlohmann::json> lines = Lines(setup);
  const auto soft = std::find_if(lines.begin(), lines.end(), [](const nlohmann::json& line) {
    return line.value("action", "") == "soften";
  });
  REQUIRE(soft != lines.end());
  REQUIRE((*soft)["reason"] == "not_finite");
  REQUIRE(std::prev(soft)->at("action") == "skip");
  lines.erase(std::prev(soft), std::next(soft));
  REQUIRE(lines.size() == kUpdates);
  const double rate = setup.algorithm.learning_rate;
  int softened = 0;
  for (const nlohmann::json& line : lines) {
    const bool soft_rate = line["learning_rate"] == rate / 2;
    if (soft_rate) ++softened;
    REQUIRE((soft_rate || line["learning_rate"] == rate));
    REQUIRE(line["kl_coefficient"] == (soft_rate ? 1.0 : 0.5));
  }
  REQUIRE(softened == 2);
  REQUIRE(lines.back()["learning_rate"] == rate);
}

TEST_CASE("a run begins above the epochs that replay and inference remember of another folder") {
  const doubles::TemporaryFolder folder;
  const doubles::TemporaryFolder lost;
  replay::ShardServer shard({.name = "unrolls", .max_staleness = 4});
  for (const std::int64_t epoch : {7, 2000}) {
    Fill(shard.shard(), epoch);
    LearnerSetup setup = Setup(epoch == 7 ? lost : folder, shard.address());
    setup.learner.listen = "unix:" + folder.At("learner");
    setup.first_epoch = static_cast<std::uint64_t>(epoch);
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
    const absl::Status end = RunAlone(setup, [&](int sum) {
      if (sum > 1) return;
      proto::SubscribeRequest request;
      request.set_protocol_version(transport::kProtocolVersion);
      request.mutable_known()->set_epoch(static_cast<std::uint64_t>(epoch) - 1);
      request.mutable_known()->set_step(1000);
      const auto stub = proto::Parameters::NewStub(transport::CreateChannel(setup.learner.listen));
      proto::ParametersPart part;
      REQUIRE(stub->Subscribe(&context, request)->Read(&part));
      REQUIRE(part.version().epoch() == static_cast<std::uint64_t>(epoch));
    });
    INFO(end);
    REQUIRE(end.ok());
    REQUIRE(NewestCheckpoint(setup) == kUpdates);
  }
}

TEST_CASE("a rank that cannot start ends the start of the others, which name it") {
  const doubles::TemporaryFolder folder;
  const LearnerSetup setup = Setup(folder, "127.0.0.1:1");
  const auto ends =
      doubles::TryRanks(kRanks, [&](std::size_t rank, collectives::GradientReducer& group) {
        LearnerSetup own = setup;
        if (rank == 1) own.policy.observation_size = -1;
        return Learner::Create(own, std::make_unique<ThrowingReducer>(group, 0)).status();
      });
  REQUIRE(absl::IsInvalidArgument(ends[1]));
  REQUIRE(absl::IsAborted(ends[0]));
  REQUIRE(runtime::Message(ends[0]).find("rank 1 failed alone") != std::string::npos);
}

TEST_CASE("a learner of action values draws a part of its unrolls from demonstrations") {
  const doubles::TemporaryFolder folder;
  replay::ShardServer shard({.name = "unrolls",
                             .sampler = replay::SelectorKind::kUniform,
                             .remover = replay::SelectorKind::kFifo,
                             .max_times_sampled = 0});
  Fill(shard.shard(), 1);
  LearnerSetup setup = Setup(folder, shard.address());
  setup.policy.action_values = true;
  setup.algorithm.name = "dqn";
  setup.learner.updates = 12;
  setup.learner.cloning.demonstration_ratio = 0.5;
  setup.learner.cloning.demonstration_updates = 0;
  const auto ends = [&setup](const LearnerSetup& with) {
    collectives::SingleRank alone;
    auto learner = Learner::Create(with, std::make_unique<ThrowingReducer>(alone, 0));
    return learner.ok() ? (*learner)->Run() : learner.status();
  };
  REQUIRE(runtime::Message(ends(setup)).starts_with("learner.demonstration_ratio: there are no"));

  proto::DemonstrationChunk recorded;
  recorded.mutable_header()->set_canonicaliser_version(std::string(content::kCanonicaliserVersion));
  recorded.mutable_header()->mutable_spec()->mutable_action()->mutable_discrete()->set_count(3);
  recorded.mutable_header()->set_episode_limit(5);
  proto::Demonstration& one = *recorded.add_demonstrations();
  one.set_goal("a task");
  one.set_capture("simulation");
  *one.mutable_unroll() = MakeDiscrete(0, 5);
  setup.learner.cloning.demonstrations = folder.At("expert.demos");
  REQUIRE(demonstrations::WriteDemonstrations(folder.At("expert.demos"), recorded).ok());
  const absl::Status end = ends(setup);
  INFO(end);
  REQUIRE(end.ok());
  const std::string written = runtime::ReadFile(setup.run.path() + "/learner.jsonl").value();
  int drawn = 0;
  const std::vector<std::string> lines = absl::StrSplit(written, '\n', absl::SkipEmpty());
  for (const std::string& line : lines) {
    const auto numbers = nlohmann::json::parse(line);
    REQUIRE(numbers.at("unrolls") == 4);
    drawn += numbers.at("demonstrations").get<int>();
  }
  // A binomial number of 48 unrolls with mean 24.
  REQUIRE(drawn > 8);
  REQUIRE(drawn < 40);

  setup.policy.action_values = false;
  setup.algorithm.name = "ppo";
  setup.run.directory = folder.At("other");
  REQUIRE(runtime::Message(ends(setup)) ==
          "learner.demonstration_ratio: algorithm ppo trains on what its own policy did alone");
}

TEST_CASE("the first rank of each node says that it serves once it has started") {
  const doubles::TemporaryFolder folder;
  const LearnerSetup setup = Setup(folder, "127.0.0.1:1");
  const std::array<std::string, 2> sockets = {"unix:" + folder.At("first"),
                                              "unix:" + folder.At("second")};
  const auto ask = [](const std::string& address) {
    return transport::CheckHealth(transport::CreateChannel(address), std::chrono::seconds(10));
  };
  // Ranks 0 and 1 are alone on their nodes, and rank 2 is the second one of node 1.
  doubles::RunRanks(3, [&](std::size_t rank, collectives::GradientReducer& group) -> absl::Status {
    LearnerSetup own = setup;
    own.local_rank = rank == 2 ? 1 : 0;
    own.learner.health_listen = sockets.at(rank == 0 ? 0 : 1);
    SHOAL_ASSIGN_OR_RETURN(const auto learner,
                           Learner::Create(own, std::make_unique<ThrowingReducer>(group, 0)));
    SHOAL_RETURN_IF_ERROR(group.Barrier());
    for (const std::string& socket : sockets) SHOAL_RETURN_IF_ERROR(ask(socket));
    return group.Barrier();
  });
  REQUIRE_FALSE(ask(sockets[0]).ok());
}

}  // namespace shoal::learner
