// SPDX-License-Identifier: Apache-2.0
#include "rl/training/shared_checkpoints.h"

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "platform/runtime/atomic_file.h"
#include "tests/rl/training/machines.h"

namespace shoal::training {
namespace {

// Loads, and requires the state of that many updates.
Found RequireFound(const Machines& machines, const Placement& placement, std::int64_t number) {
  const Found found = Load(machines, placement);
  INFO(found.status);
  REQUIRE(found.status.ok());
  REQUIRE(found.checkpoint == StateOf(number));
  return found;
}

void Flip(const std::string& path) {
  std::string bytes = runtime::ReadFile(path).value();
  bytes[bytes.size() / 2] ^= 1;
  std::ofstream(path, std::ios::trunc | std::ios::binary) << bytes;
}

std::set<std::string> FilesOf(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.insert(entry.path().filename().string());
  }
  return names;
}

TEST_CASE("groups of one to five ranks with folders of their own find what they saved") {
  for (std::size_t ranks = 1; ranks <= 5; ++ranks) {
    INFO(ranks << " ranks");
    const Machines machines;
    Save(machines, OneEach(ranks), 1);
    Save(machines, OneEach(ranks), 2);
    const Found found = RequireFound(machines, OneEach(ranks), 2);
    REQUIRE(found.survives);
    REQUIRE(found.problems.empty());
  }
}

TEST_CASE("each rank writes its part and a copy of another one's, and no more") {
  const Machines machines;
  Save(machines, OneEach(4), 1);
  REQUIRE(FilesOf(machines.File(0, 1, "")) ==
          std::set<std::string>{"counters.json", "manifest.json", "part-0-of-4.safetensors",
                                "part-3-of-4.safetensors"});
  REQUIRE(FilesOf(machines.File(2, 1, "")) ==
          std::set<std::string>{"counters.json", "manifest.json", "part-1-of-4.safetensors",
                                "part-2-of-4.safetensors"});
  REQUIRE(FilesOf(machines.Of(2)) == std::set<std::string>{"LATEST", "checkpoint-000000000001"});
}

TEST_CASE("ranks with one folder write the files of a checkpoint whole, once") {
  const Machines machines;
  Save(machines, {0, 0, 0}, 1);
  REQUIRE(FilesOf(machines.File(0, 1, "")) ==
          std::set<std::string>{"counters.json", "manifest.json", "optimiser.safetensors",
                                "parameters.safetensors"});
  REQUIRE(ReadNewestCheckpoint(machines.Of(0)).value() == StateOf(1));
  REQUIRE(RequireFound(machines, {0, 0, 0}, 1).survives);
}

TEST_CASE("ranks of one machine count as one: the copies are on the other one") {
  const Machines machines;
  const Placement two_of_two = {0, 0, 1, 1};
  Save(machines, two_of_two, 1);
  REQUIRE(FilesOf(machines.File(0, 1, "")).contains("part-0-of-2.safetensors"));
  REQUIRE(FilesOf(machines.File(1, 1, "")).contains("part-0-of-2.safetensors"));
  machines.Lose(0);
  const Found found = RequireFound(machines, two_of_two, 1);
  REQUIRE_FALSE(found.survives);
  Save(machines, two_of_two, 1);
  REQUIRE(RequireFound(machines, two_of_two, 1).survives);
}

TEST_CASE("any one folder may be lost: the newest checkpoint is found all the same") {
  for (const std::size_t ranks : {2, 3, 5}) {
    for (std::size_t lost = 0; lost < ranks; ++lost) {
      INFO("rank " << lost << " of " << ranks);
      const Machines machines;
      Save(machines, OneEach(ranks), 1);
      Save(machines, OneEach(ranks), 2);
      machines.Lose(lost);
      REQUIRE_FALSE(RequireFound(machines, OneEach(ranks), 2).survives);
    }
  }
}

TEST_CASE("where both folders of a part are lost, all ranks say which part is nowhere") {
  const Machines machines;
  Save(machines, OneEach(4), 1);
  machines.Lose(1);
  machines.Lose(2);
  const Found found = Load(machines, OneEach(4));
  REQUIRE(absl::IsDataLoss(found.status));
  REQUIRE(found.Says("checkpoint 1: no rank has part-1-of-4.safetensors"));
}

TEST_CASE("two folders that share no part may be lost") {
  const Machines machines;
  Save(machines, OneEach(4), 1);
  machines.Lose(1);
  machines.Lose(3);
  RequireFound(machines, OneEach(4), 1);
}

TEST_CASE("where a part of the newest checkpoint is nowhere, the one before is found") {
  const Machines machines;
  Save(machines, OneEach(3), 1);
  Save(machines, OneEach(3), 2);
  fs::remove(machines.File(0, 2, "part-0-of-3.safetensors"));
  Flip(machines.File(1, 2, "part-0-of-3.safetensors"));
  const Found found = RequireFound(machines, OneEach(3), 1);
  REQUIRE(found.Says("machine-1/checkpoint-000000000002/part-0-of-3.safetensors is not what was"));
  REQUIRE(found.Says("checkpoint 2: no rank has part-0-of-3.safetensors"));
}

TEST_CASE("a damaged part is named, and its copy is used") {
  const Machines machines;
  Save(machines, OneEach(3), 1);
  Flip(machines.File(2, 1, "part-1-of-3.safetensors"));
  const Found found = RequireFound(machines, OneEach(3), 1);
  REQUIRE(found.Says("machine-2/checkpoint-000000000001/part-1-of-3.safetensors is not what was"));
  REQUIRE_FALSE(found.survives);
}

TEST_CASE("four ranks go on from what two saved, and two from what four saved") {
  const Machines machines;
  Save(machines, OneEach(4), 1);
  RequireFound(machines, {1, 3}, 1);
  RequireFound(machines, {0, 2, 1, 3, 4}, 1);
  Save(machines, {1, 3}, 2);
  RequireFound(machines, OneEach(4), 2);
}

TEST_CASE("what one process wrote whole is found by a group, of whose ranks one has it") {
  const Machines machines;
  REQUIRE(WriteCheckpoint(machines.Of(2), StateOf(4), 3).ok());
  REQUIRE_FALSE(RequireFound(machines, OneEach(3), 4).survives);
  Save(machines, OneEach(3), 4);
  REQUIRE(RequireFound(machines, OneEach(3), 4).survives);
}

TEST_CASE("every folder keeps the parts of the newest checkpoints alone") {
  const Machines machines;
  for (std::int64_t number = 1; number <= 5; ++number) Save(machines, OneEach(2), number);
  for (const std::size_t machine : {0, 1}) {
    REQUIRE(FilesOf(machines.Of(machine)) ==
            std::set<std::string>{"LATEST", "checkpoint-000000000003", "checkpoint-000000000004",
                                  "checkpoint-000000000005"});
  }
}

// Saves what has a return, where the newest checkpoint and the best one stay.
void SaveWithReturn(const Machines& machines, std::int64_t number, double value) {
  doubles::RunRanks(3, [&](std::size_t rank, GradientReducer& reducer) -> absl::Status {
    SHOAL_ASSIGN_OR_RETURN(
        const auto shared,
        SharedCheckpoints::Create({.root = machines.Of(rank), .keep = {.newest = 1, .best = 1}},
                                  reducer));
    Checkpoint state = StateOf(number);
    state.mean_return = MeanReturn{.value = value};
    shared->Begin([&state] { return [state] { return state; }; });
    return shared->Settle();
  });
}

TEST_CASE("a folder that came later keeps no other best checkpoint than those of the others") {
  const Machines machines;
  SaveWithReturn(machines, 1, 9);
  machines.Lose(1);
  SaveWithReturn(machines, 2, 5);
  SaveWithReturn(machines, 3, 1);
  for (const std::size_t machine : {0, 2}) {
    REQUIRE(FilesOf(machines.Of(machine)) ==
            std::set<std::string>{"LATEST", "checkpoint-000000000001", "checkpoint-000000000003"});
  }
  REQUIRE(FilesOf(machines.Of(1)) == std::set<std::string>{"LATEST", "checkpoint-000000000003"});
}

TEST_CASE(
    "where a part of the best checkpoint is away, another one is kept beside its other parts") {
  const Machines machines;
  SaveWithReturn(machines, 1, 9);
  machines.Lose(0);
  machines.Lose(1);
  SaveWithReturn(machines, 2, 5);
  SaveWithReturn(machines, 3, 1);
  const std::set<std::string> whole = {"LATEST", "checkpoint-000000000002",
                                       "checkpoint-000000000003"};
  std::set<std::string> parts = whole;
  parts.insert("checkpoint-000000000001");
  REQUIRE(FilesOf(machines.Of(0)) == whole);
  REQUIRE(FilesOf(machines.Of(1)) == whole);
  REQUIRE(FilesOf(machines.Of(2)) == parts);
}

// Saves checkpoint 2 with what `change` makes of the state of rank 1, and returns how each rank
// ends.
std::vector<absl::Status> SaveChanged(const Machines& machines,
                                      const std::function<void(Checkpoint&)>& change) {
  Save(machines, OneEach(2), 1);
  return doubles::TryRanks(2, [&](std::size_t rank, GradientReducer& reducer) {
    SHOAL_ASSIGN_OR_RETURN(const auto shared,
                           SharedCheckpoints::Create({.root = machines.Of(rank)}, reducer));
    Checkpoint state = StateOf(2);
    if (rank == 1) change(state);
    shared->Begin([&state] { return [state] { return state; }; });
    return shared->Settle();
  });
}

TEST_CASE("ranks that hold different states save nothing, and both are named") {
  const Machines machines;
  const auto ends = SaveChanged(machines, [](Checkpoint& state) {
    FileContent& content = state.files["optimiser.safetensors"];
    std::string bytes(content.Joined().bytes);
    bytes[0] = 'x';
    content = bytes;
  });
  for (const absl::Status& end : ends) {
    REQUIRE(doubles::Mentions(end, "saved different states as checkpoint 2"));
  }
  RequireFound(machines, OneEach(2), 1);
}

TEST_CASE("a rank whose disk fails is named on all ranks, and the checkpoint before stays") {
  const Machines machines;
  const auto ends = SaveChanged(machines, [](Checkpoint& state) {
    // A name that no file system takes.
    state.files[std::string(300, 'x')] = "";
  });
  for (const absl::Status& end : ends) {
    INFO(end);
    REQUIRE(doubles::Mentions(end, "a checkpoint of rank 1: "));
  }
  RequireFound(machines, OneEach(2), 1);
}

TEST_CASE("checkpoints up to a number come first, after the best if wanted, and later ones go") {
  const Machines machines;
  const auto in_group = [&](const auto& work) {
    doubles::RunRanks(2, [&](std::size_t rank, GradientReducer& reducer) -> absl::Status {
      SHOAL_ASSIGN_OR_RETURN(
          const auto shared,
          SharedCheckpoints::Create({.root = machines.Of(rank), .keep = {.newest = 10}}, reducer));
      return work(machines.Of(rank), reducer, *shared);
    });
  };
  // Returns of evaluations, and of episodes below 0.
  const std::map<std::int64_t, double> returns = {{1, 50}, {2, 90}, {3, -1}, {4, 95}};
  in_group([&](const std::string&, GradientReducer&, SharedCheckpoints& shared) -> absl::Status {
    for (std::int64_t number = 0; number <= 5; ++number) {
      shared.Begin([&] {
        return [&returns, number] {
          Checkpoint checkpoint = StateOf(number);
          const auto found = returns.find(number);
          if (found == returns.end()) return checkpoint;
          checkpoint.mean_return = {std::abs(found->second) * (found->second < 0 ? 1000 : 1),
                                    found->second > 0};
          return checkpoint;
        };
      });
      SHOAL_RETURN_IF_ERROR(shared.Settle());
    }
    return absl::OkStatus();
  });
  const auto read = [&](const CheckpointChoice& choice) {
    std::array<std::int64_t, 2> found = {-1, -1};
    in_group([&](const std::string& root, GradientReducer& reducer, SharedCheckpoints&) {
      const auto read = ReadSharedCheckpoint(root, reducer, choice);
      if (read.ok()) found[static_cast<std::size_t>(reducer.rank())] = read->checkpoint.number;
      return absl::IsNotFound(read.status()) ? absl::OkStatus() : read.status();
    });
    REQUIRE(found[0] == found[1]);
    return found[0];
  };
  REQUIRE(read({}) == 5);
  REQUIRE(read({.number = 2}) == 2);
  REQUIRE(read({.rather_up_to = 3}) == 3);
  REQUIRE(read({.rather_up_to = -1}) == 0);
  for (const std::int64_t best : {4, 2, 1}) {
    REQUIRE(read({.rather_up_to = 3, .rather_best = true}) == best);
    REQUIRE(read({.rather_up_to = -1, .rather_best = true}) == best);
    fs::remove(machines.File(0, best, "counters.json"));
    fs::remove(machines.File(1, best, "counters.json"));
  }
  REQUIRE(read({.rather_up_to = 3, .rather_best = true}) == 3);
  REQUIRE(read({.rather_up_to = -1, .rather_best = true}) == 0);

  in_group([](const std::string&, GradientReducer&, SharedCheckpoints& shared) {
    return shared.WithdrawAfter(3);
  });
  REQUIRE(read({}) == 3);
  REQUIRE_FALSE(FilesOf(machines.Of(1)).contains("checkpoint-000000000004"));
}

}  // namespace
}  // namespace shoal::training
