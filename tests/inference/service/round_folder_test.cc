// SPDX-License-Identifier: Apache-2.0
#include "inference/service/round_folder.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "tests/doubles/temporary_folder.h"

namespace shoal::inference {
namespace {

RoundState StateOf(std::uint64_t update) {
  EnvironmentState environment{.environment = 7,
                               .incarnation = 1'700'000'000'000'000'000,
                               .episode = 3,
                               .actions = {.discrete = {1, -1, 0}, .box = {0.5F, -2}},
                               .next_sequence = 99,
                               .core_state = {0.1F, 1e-30F},
                               .unroll = {}};
  OpenUnroll& unroll = environment.unroll;
  unroll.shared_rows = 1;
  unroll.shared_with = 90;
  unroll.core_states = {4, 5};
  unroll.sequences = {97, 98};
  unroll.observations = {std::byte{0}, std::byte{255}};
  unroll.legal = {1, 0, 0, 1};
  unroll.actions = {1, 0};
  unroll.box_actions = {-1, 1};
  unroll.log_probabilities = {-0.25F, -0.5F};
  unroll.values = {0.3F, 0.7F};
  unroll.action_values = {1, 2};
  unroll.rewards = {1, 0};
  unroll.flags = {kFirst, 0};
  unroll.forced = {0, 1};
  unroll.relabelled = {1, 0};
  unroll.versions = {{1, update - 1}, {1, update}};
  unroll.episodes = {3, 3};
  unroll.extras = {std::byte{9}};
  return {.update = update, .acted = {1, update - 1}, .environments = {environment}};
}

}  // namespace

TEST_CASE("The state of a round is found with every number that it had") {
  const doubles::TemporaryFolder folder;
  RoundFolder rounds(folder.At("rounds"));
  REQUIRE_FALSE(rounds.Find(5));
  rounds.Keep(StateOf(5));
  REQUIRE(rounds.Find(5) == StateOf(5));
  REQUIRE(RoundFolder(folder.At("rounds")).Find(5) == StateOf(5));
  REQUIRE_FALSE(rounds.Find(4));
}

TEST_CASE("The last two rounds are kept, and those of the last checkpoints") {
  const doubles::TemporaryFolder folder;
  RoundFolder rounds(folder.path());
  for (std::uint64_t update = 1; update <= 70; ++update) {
    rounds.Keep(StateOf(update));
    if (update % 10 == 0) rounds.Hold(update);
  }
  rounds.Keep(StateOf(71));
  std::set<std::uint64_t> found;
  for (std::uint64_t update = 0; update <= 80; ++update) {
    if (rounds.Find(update)) found.insert(update);
  }
  REQUIRE(found == std::set<std::uint64_t>{20, 30, 40, 50, 60, 70, 71});
  // After a restart nobody knows which of them are checkpoints, so the newest ones are held.
  RoundFolder restarted(folder.path());
  restarted.Keep(StateOf(72));
  REQUIRE(restarted.Find(70));
  REQUIRE(restarted.Find(30));
  REQUIRE_FALSE(restarted.Find(20));
}

TEST_CASE("However often a run starts again, the state of its checkpoint stays") {
  const doubles::TemporaryFolder folder;
  RoundFolder(folder.path()).Keep(StateOf(100));
  for (std::uint64_t round = 0; round < 10; ++round) {
    RoundFolder rounds(folder.path());
    REQUIRE(rounds.Find(100));
    rounds.Hold(100);
    for (std::uint64_t update = 101; update < 140 - 3 * round; ++update) {
      rounds.Keep(StateOf(update));
    }
  }
  REQUIRE(RoundFolder(folder.path()).Find(100));
}

TEST_CASE("What is left of a crash is removed, and so is a future that did not happen") {
  const doubles::TemporaryFolder folder;
  RoundFolder(folder.path()).Keep(StateOf(200));
  std::ofstream(folder.At("round-000000000150.tmp-77")) << "half";
  RoundFolder rounds(folder.path());
  REQUIRE_FALSE(std::filesystem::exists(folder.At("round-000000000150.tmp-77")));
  rounds.Keep(StateOf(120));
  REQUIRE_FALSE(rounds.Find(200));
  REQUIRE(rounds.Find(120));
}

TEST_CASE("A damaged file counts as none, and other files are left alone") {
  const doubles::TemporaryFolder folder;
  RoundFolder rounds(folder.path());
  rounds.Keep(StateOf(1));
  std::filesystem::path file;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) file = entry.path();
  const auto size = static_cast<std::streamoff>(std::filesystem::file_size(file));
  for (const std::streamoff at : {std::streamoff{3}, size / 2, size - 1}) {
    rounds.Keep(StateOf(1));
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(at);
    const auto byte = static_cast<char>(stream.get() ^ 0x10);
    stream.seekp(at);
    stream.put(byte);
    stream.close();
    INFO("byte " << at << " of " << size);
    REQUIRE_FALSE(rounds.Find(1));
  }
  std::filesystem::resize_file(file, 10);
  REQUIRE_FALSE(rounds.Find(1));
  std::ofstream(folder.At("round-x")) << "mine";
  std::ofstream(folder.At("round-1")) << "mine";
  rounds.Keep(StateOf(9));
  REQUIRE(std::filesystem::exists(folder.At("round-x")));
  REQUIRE(std::filesystem::exists(folder.At("round-1")));
}

}  // namespace shoal::inference
