// SPDX-License-Identifier: Apache-2.0
#include "actor/demonstrations/demonstration_recorder.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <string>

#include "actor/environments/episode_memory.h"
#include "actor/environments/plan_player.h"
#include "actor/environments/redfish_source.h"
#include "platform/runtime/atomic_file.h"
#include "redfish/goals/plan.h"
#include "rl/demonstrations/demonstration_check.h"
#include "tests/actor/demonstrations/columns.h"
#include "tests/actor/demonstrations/played.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::actor {
namespace {

constexpr const char* kRecordedCapture = "openbmc-stock";

const std::vector<std::int64_t> kGoals = {1, 2, 3, 5, 11, 101};

const RedfishData& RecorderData() {
  static const RedfishData data = LoadInProcess({.captures = {kRecordedCapture}, .goals = kGoals});
  return data;
}

const std::vector<redfish::Candidate>& RecorderCandidates() {
  return RecorderData().tasks->catalogs.at(kRecordedCapture).catalog->candidates();
}

// Returns "GET", "PATCH", "POST" or "WAIT" for each step.
std::vector<std::string> MethodsOf(const PlayedEpisode& episode) {
  std::vector<std::string> methods;
  for (const PlayedStep& step : episode.steps) {
    methods.push_back(RecorderCandidates()[static_cast<std::size_t>(step.action)].method);
  }
  return methods;
}

// Plays the first episode of the goal that starts with the goal unmet.
PlayedEpisode PlayOpen(PlanPlayer& player, const std::string& goal) {
  for (std::uint64_t episode = 0; episode < 50; ++episode) {
    auto played = player.Play(PairOf(RecorderData(), goal), episode);
    INFO(played.status());
    REQUIRE(played.ok());
    if (played->facts.optimum > 1) return *std::move(played);
  }
  throw std::runtime_error("no such episode");
}

}  // namespace

TEST_CASE("The expert looks, sets the override, looks again and restarts") {
  PlanPlayer player(RecorderData());
  const PlayedEpisode played = PlayOpen(player, "5 pxe_once");
  const std::vector<std::string> methods = MethodsOf(played);
  REQUIRE(methods.size() >= 4);
  REQUIRE(std::vector<std::string>(methods.begin(), methods.begin() + 3) ==
          std::vector<std::string>{"GET", "PATCH", "GET"});
  REQUIRE(std::count(methods.begin(), methods.end(), "PATCH") == 1);
  REQUIRE(std::count(methods.begin(), methods.end(), "POST") == 1);
  REQUIRE(played.facts.success);
  REQUIRE(played.facts.mutations == played.facts.optimum);
  // The episode has what the expert saw before each choice: nothing at first, then the system.
  REQUIRE(played.steps[0].observation.contents[2].key.IsZero());
  REQUIRE(played.steps[1].observation.contents[2].text->find("BootSourceOverrideTarget") !=
          std::string::npos);
  REQUIRE(played.steps.back().reward > 0.9F);
}

TEST_CASE("The sequence that MAAS sends is played request by request") {
  PlanPlayer player(RecorderData());
  const PlayedEpisode played = PlayOpen(player, "101 maas_power_on");
  REQUIRE(MethodsOf(played) == std::vector<std::string>{"GET", "GET", "PATCH", "GET", "POST"});
  REQUIRE(RecorderCandidates()[static_cast<std::size_t>(played.steps[0].action)].uri ==
          "/redfish/v1/Systems");
}

TEST_CASE("A service that is busy is waited for and asked again") {
  EnvironmentOptions options{.captures = {kRecordedCapture}, .goals = kGoals, .episode_limit = 64};
  options.faults.rate = 0.6;
  const RedfishData busy = LoadInProcess(options);
  PlanPlayer player(busy);
  bool waited = false;
  for (std::uint64_t episode = 0; episode < 10; ++episode) {
    const auto played = player.Play(PairOf(busy, "5 pxe_once"), episode);
    INFO(played.status());
    REQUIRE(played.ok());
    const std::vector<std::string> methods = MethodsOf(*played);
    for (std::size_t i = 1; i + 1 < methods.size(); ++i) {
      if (methods[i] != "WAIT" || methods[i - 1] != "GET") continue;
      REQUIRE(played->steps[i - 1].action == played->steps[i + 1].action);
      waited = true;
    }
  }
  REQUIRE(waited);
}

TEST_CASE("A task that takes time is waited for and looked at") {
  EnvironmentOptions options{.captures = {kRecordedCapture}, .goals = kGoals, .episode_limit = 64};
  options.faults = {.tasks = 1, .task_ms = 12'000};
  const RedfishData slow = LoadInProcess(options);
  PlanPlayer player(slow);
  const auto waits = static_cast<std::int64_t>(
      std::find_if(RecorderCandidates().begin(), RecorderCandidates().end(),
                   [](const redfish::Candidate& one) { return one.method == "WAIT"; }) -
      RecorderCandidates().begin());
  int looked = 0;
  for (std::uint64_t episode = 0; episode < 10; ++episode) {
    const auto played = player.Play(PairOf(slow, "5 pxe_once"), episode);
    INFO(played.status());
    REQUIRE(played.ok());
    for (std::size_t i = 0; i + 1 < played->steps.size(); ++i) {
      // What came in the episode stands behind the catalog.
      const bool looks =
          played->steps[i + 1].action >= static_cast<std::int64_t>(RecorderCandidates().size());
      looked += played->steps[i].action == waits && looks ? 1 : 0;
    }
  }
  REQUIRE(looked > 0);
}

TEST_CASE("An expert that errs before each request goes on, and no step shows a mistake") {
  PlanPlayer player(RecorderData());
  const std::size_t pair = PairOf(RecorderData(), "5 pxe_once");
  int wrong_steps = 0;
  for (std::uint64_t episode = 0; episode < 10; ++episode) {
    const auto plain = player.Play(pair, episode);
    const auto erring = player.Play(pair, episode, {.looks = Looks::kAlways, .mistakes = 1});
    INFO(plain.status() << " " << erring.status());
    REQUIRE(plain.ok());
    REQUIRE(erring.ok());
    REQUIRE(MethodsOf(*erring) == MethodsOf(*plain));
    REQUIRE(erring->facts.success);
    REQUIRE(erring->facts.steps > plain->facts.steps);
    REQUIRE(plain->wrong_steps == 0);
    wrong_steps += erring->wrong_steps;
    // The agent pays for its mistakes.
    const auto sum = [](const PlayedEpisode& played) {
      float rewards = 0;
      for (const PlayedStep& step : played.steps) rewards += step.reward;
      return rewards;
    };
    if (erring->steps.size() > 1) REQUIRE(sum(*erring) < sum(*plain));
  }
  REQUIRE(wrong_steps >= 10);
}

TEST_CASE("A mistake may be a wrong value, after which the right one follows") {
  const RedfishData data =
      LoadInProcess({.captures = {kRecordedCapture}, .goals = {9}, .episode_limit = 64});
  PlanPlayer player(data);
  const std::size_t pair = PairOf(data, "9 forced_password");
  int wrong = 0;
  for (std::uint64_t episode = 0; episode < 30; ++episode) {
    const auto played = player.Play(pair, episode, {.looks = Looks::kAlways, .mistakes = 0.5});
    if (!played.ok()) continue;
    wrong += played->wrong_mutations;
    REQUIRE(played->facts.clean);
    REQUIRE(played->facts.mutations - played->wrong_mutations >= played->facts.optimum);
  }
  REQUIRE(wrong >= 10);
}

TEST_CASE("A mistake may be a request that comes later, and the expert heeds its refusal") {
  const RedfishData data =
      LoadInProcess({.captures = {"dell-r750"}, .goals = {13}, .episode_limit = 64});
  PlanPlayer player(data);
  const std::size_t pair = PairOf(data, "13 secure_boot_chain");
  const auto heeds = [](const PlayedStep& step) {
    const auto& marks = step.observation.marks;
    const auto& chosen = *step.observation.catalog->at(static_cast<std::size_t>(step.action)).text;
    return chosen.find("\"BootMode\":\"Uefi\"") != std::string::npos &&
           std::any_of(marks.begin(), marks.end(), [&step](const model::CandidateMark& mark) {
             return mark.candidate == static_cast<std::uint32_t>(step.action) &&
                    (mark.bits & MarkBit(Mark::kInRefusal)) != 0;
           });
  };
  std::int64_t heeded = 0;
  for (std::uint64_t episode = 0; episode < 20; ++episode) {
    const auto plain = player.Play(pair, episode);
    REQUIRE(plain.ok());
    REQUIRE(std::none_of(plain->steps.begin(), plain->steps.end(), heeds));
    const auto erring = player.Play(pair, episode, {.looks = Looks::kAlways, .mistakes = 0.5});
    if (!erring.ok()) continue;
    REQUIRE(erring->facts.clean);
    heeded += std::count_if(erring->steps.begin(), erring->steps.end(), heeds);
  }
  REQUIRE(heeded > 0);
}

TEST_CASE("A request that is no candidate is not found") {
  const redfish::PlanRequest made_up{
      .method = "POST", .uri = "/redfish/v1/Systems", .body = {{"Name", "x"}}, .token = ""};
  REQUIRE(redfish::FindCandidate(RecorderCandidates(), made_up) == -1);
}

TEST_CASE("A request is a candidate by method, canonical URI and body, whatever its slots hold") {
  const redfish::PlanRequest look{
      .method = "GET", .uri = "/redfish/v1/Systems/", .body = nullptr, .token = ""};
  const std::int64_t found = redfish::FindCandidate(RecorderCandidates(), look);
  REQUIRE(found >= 0);
  REQUIRE(RecorderCandidates()[static_cast<std::size_t>(found)].uri == "/redfish/v1/Systems");
  for (const redfish::Candidate& candidate : RecorderCandidates()) {
    if (candidate.slots.size() != 1 || candidate.method != "PATCH") continue;
    if (candidate.slots[0].kind != redfish::PropertyKind::kString) continue;
    const redfish::SlotValues values = {{candidate.slots[0].name, "a-value"}};
    runtime::Random random(1);
    const redfish::PlanRequest request{.method = "PATCH",
                                       .uri = candidate.uri,
                                       .body = redfish::BindSlots(candidate, values, random),
                                       .token = ""};
    const std::int64_t index = redfish::FindCandidate(RecorderCandidates(), request);
    REQUIRE(index >= 0);
    REQUIRE(RecorderCandidates()[static_cast<std::size_t>(index)].key == candidate.key);
    return;
  }
  FAIL("no candidate with a slot");
}

TEST_CASE("The expert's plan of every goal is played by choices that an agent has") {
  static const RedfishData rackmount =
      LoadInProcess({.captures = {"dmtf-rackmount1"}, .goals = {}, .episode_limit = 96});
  PlanPlayer player(rackmount);
  for (std::size_t pair = 0; pair < rackmount.tasks->pairs.size(); ++pair) {
    const auto played = player.Play(pair, 0);
    INFO(rackmount.tasks->pairs[pair].goal << ": " << played.status());
    REQUIRE(played.ok());
  }
}

TEST_CASE("A recording is sound, has every pair, and is the same each time") {
  const auto recorded = RecordDemonstrations(RecorderData(), {.of_pair = 6});
  demonstrations::DemonstrationCheck check;
  const absl::Status verdict = check.Add(recorded);
  INFO(verdict);
  REQUIRE(verdict.ok());
  REQUIRE(check.Finish().ok());

  std::map<std::string, int> episodes;
  for (const proto::Demonstration& one : recorded.demonstrations()) {
    ++episodes[one.goal()];
    const auto flags = ColumnOf<std::uint8_t>(one.unroll(), "flags");
    REQUIRE(flags.size() == one.unroll().length() + 1);
    REQUIRE((flags.front() & proto::ROW_FLAG_FIRST) != 0);
    REQUIRE((flags[flags.size() - 2] & proto::ROW_FLAG_TERMINATED) != 0);
    for (const std::int64_t action : ColumnOf<std::int64_t>(one.unroll(), "action")) {
      REQUIRE(action >= 0);
      REQUIRE(action < static_cast<std::int64_t>(RecorderCandidates().size()));
    }
  }
  for (const char* goal : {"1 power_on", "2 graceful_off", "3 locate", "5 pxe_once"}) {
    INFO(goal);
    REQUIRE(episodes[goal] == 6);
  }
  for (const proto::LeftOut& left_out : recorded.left_out()) {
    INFO(left_out.goal() << ": " << left_out.reason());
    REQUIRE(left_out.episodes() + static_cast<std::uint32_t>(episodes[left_out.goal()]) == 6);
  }
  REQUIRE(RecordDemonstrations(RecorderData(), {.of_pair = 6}).SerializeAsString() ==
          recorded.SerializeAsString());
}

TEST_CASE("A goal that few captures have is played more often on each of them") {
  const RedfishData data =
      LoadInProcess({.captures = {"openbmc-stock", "dmtf-rackmount1"}, .goals = {1, 13}});
  const auto recorded = RecordDemonstrations(data, {.of_pair = 3, .of_goal = 7});
  std::map<std::string, std::uint32_t> episodes;
  for (const proto::Demonstration& one : recorded.demonstrations()) {
    ++episodes[one.goal() + " " + one.capture()];
  }
  for (const proto::LeftOut& one : recorded.left_out()) {
    episodes[one.goal() + " " + one.capture()] += one.episodes();
  }
  REQUIRE(episodes ==
          std::map<std::string, std::uint32_t>{{"1 power_on dmtf-rackmount1", 4},
                                               {"1 power_on openbmc-stock", 4},
                                               {"13 secure_boot_chain dmtf-rackmount1", 7}});
}

TEST_CASE("What comes and goes in an episode is recorded as overlays") {
  const RedfishData data =
      LoadInProcess({.captures = {"hpe-dl380a-gen12"}, .goals = {13}, .episode_limit = 48});
  const auto recorded = RecordDemonstrations(data, {.of_pair = 40});
  REQUIRE(recorded.demonstrations_size() == 40);
  REQUIRE(recorded.catalogs_size() == 1);
  REQUIRE(recorded.overlays_size() > 0);
  demonstrations::DemonstrationCheck check;
  const absl::Status verdict = check.Add(recorded);
  INFO(verdict);
  REQUIRE(verdict.ok());
  REQUIRE(check.Finish().ok());
}

TEST_CASE("A plan with a request that is no candidate leaves its pair out whole, by name") {
  const doubles::TemporaryFolder folder;
  for (const char* name : {"captures", "schema", "registries"}) {
    std::filesystem::create_directory_symlink(
        std::filesystem::absolute(std::string("data/") + name), folder.At(name));
  }
  std::filesystem::create_directory(folder.At("goals"));
  std::filesystem::create_directory_symlink(std::filesystem::absolute("data/goals/phrasings"),
                                            folder.At("goals/phrasings"));
  const std::string sound = runtime::ReadFile("data/goals/01-power_on.toml").value();
  const std::size_t plan = sound.find("[[plan]]");
  REQUIRE(plan != std::string::npos);
  folder.Write("goals/01-power_on.toml",
               sound.substr(0, plan) +
                   "[[plan]]\nmethod = \"POST\"\nuri = \"$system\"\n"
                   "body = { Password = \"secret\" }\n"
                   "when = { equals = { uri = \"$system\", pointer = \"/PowerState\", "
                   "value = \"Off\" } }\n\n" +
                   sound.substr(plan));
  const RedfishData data =
      LoadInProcess({.captures = {kRecordedCapture}, .goals = {1}, .data = folder.path()});
  const auto recorded = RecordDemonstrations(data, {.of_pair = 20});
  REQUIRE(recorded.demonstrations_size() == 0);
  REQUIRE(recorded.left_out_size() == 1);
  REQUIRE(recorded.left_out(0).goal() == "1 power_on");
  REQUIRE(recorded.left_out(0).episodes() == 20);
  const std::string& reason = recorded.left_out(0).reason();
  INFO(reason);
  REQUIRE(reason.starts_with("no candidate is POST /redfish/v1/Systems/"));
  REQUIRE(reason.ends_with(" with /Password"));
}

TEST_CASE("Sentences in a file lose words as training's do") {
  const doubles::TemporaryFolder folder;
  const auto recorded = [&](double word_dropout) {
    EnvironmentOptions options;
    options.captures = {kRecordedCapture};
    options.goals = {1, 3};
    options.word_dropout = word_dropout;
    const std::string path = folder.At(word_dropout > 0 ? "dropped" : "whole");
    REQUIRE(RecordToFile(options, {}, {.of_pair = 4}, path).ok());
    return runtime::ReadFile(path).value();
  };
  REQUIRE(recorded(1) != recorded(0));
}

TEST_CASE("Another seed records other starts") {
  const RedfishData other = LoadInProcess({.captures = {kRecordedCapture}, .goals = kGoals}, 6);
  REQUIRE(
      RecordDemonstrations(RecorderData(), {.of_pair = 3}).demonstrations(0).SerializeAsString() !=
      RecordDemonstrations(other, {.of_pair = 3}).demonstrations(0).SerializeAsString());
}

}  // namespace shoal::actor
