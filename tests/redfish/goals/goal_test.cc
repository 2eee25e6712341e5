// SPDX-License-Identifier: Apache-2.0
#include "redfish/goals/goal.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "redfish/capture/uri.h"
#include "redfish/catalog/catalog.h"
#include "redfish/goals/goal_definition.h"
#include "redfish/goals/sentence_values.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/redfish/capture/shipped.h"
#include "tests/redfish/goals/fake_state.h"

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;
using Applied = std::vector<std::shared_ptr<const AppliedGoal>>;

const GoalSuite& Suite() {
  static const GoalSuite suite = LoadGoals("data/goals").value();
  return suite;
}

const Applied& AppliedTo(const std::string& capture) {
  static std::map<std::string, Applied> applied;
  auto& goals = applied[capture];
  if (goals.empty()) goals = ApplyGoals(Suite(), Shipped(capture)).value();
  return goals;
}

const AppliedGoal& Find(const std::string& capture, const std::string& name) {
  for (const auto& goal : AppliedTo(capture)) {
    if (goal->goal().name() == name) return *goal;
  }
  FAIL("goal " << name << " does not apply to " << capture);
  throw;
}

FakeState StartOf(const std::string& capture, const Episode& episode) {
  FakeState state(Shipped(capture));
  for (const StartOperation& operation : episode.start) {
    REQUIRE(Assign(state.Edit(operation.uri), operation.pointer, operation.value));
  }
  return state;
}

Progress Look(const Episode& episode, const FakeState& state) {
  Progress progress;
  episode.watch->Update(state, progress);
  return progress;
}

bool Watched(const Episode& episode, const std::string& uri) {
  const std::vector<PropertyPath> allowed = episode.watch->allowed();
  return std::any_of(allowed.begin(), allowed.end(),
                     [&](const PropertyPath& path) { return path.uri == uri; });
}

// Returns an episode of the goal whose start has this optimum.
Episode DrawStart(const AppliedGoal& goal, std::int64_t optimum) {
  for (std::uint64_t number = 0; number < 1000; ++number) {
    Episode episode = *goal.DrawEpisode(5, number, Split::kTrain);
    if (episode.optimum == optimum) return episode;
  }
  FAIL("no start of " << goal.goal().name() << " has optimum " << optimum);
  throw;
}

// Returns whether starts consist of properties only. Other goals need a service (tests/mockserver).
bool HasTargets(const AppliedGoal& goal) { return !goal.goal().definition().targets.empty(); }

TEST_CASE("The goals that apply to each capture are the frozen ones") {
  std::map<std::string, std::set<std::string>> now;
  std::vector<std::string> captures(std::begin(kShipped), std::end(kShipped));
  captures.insert(captures.end(), std::begin(kMockups), std::end(kMockups));
  for (const std::string& capture : captures) {
    for (const auto& goal : AppliedTo(capture)) {
      now[std::to_string(goal->goal().id()) + " " + goal->goal().name()].insert(capture);
    }
  }
  std::map<std::string, std::set<std::string>> frozen;
  std::ifstream file("data/goals/applicable.txt");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (line.starts_with('#') || colon == std::string::npos) continue;
    std::istringstream names(line.substr(colon + 1));
    for (std::string name; names >> name;) frozen[line.substr(0, colon)].insert(name);
  }
  REQUIRE(now == frozen);
}

TEST_CASE("Noise changes an episode's sentence and leaves its values and all else as they are") {
  for (const char* name : {"add_operator", "asset_tag", "protocol_hardening"}) {
    INFO(name);
    const AppliedGoal& goal = Find("dell-r750", name);
    const TextNoise noise{.word_dropout = 0.3, .typos = 0.1};
    int others = 0;
    for (std::uint64_t number = 0; number < 40; ++number) {
      const Episode whole = *goal.DrawEpisode(9, number, Split::kTrain);
      const Episode dropped = *goal.DrawEpisode(9, number, Split::kTrain, noise);
      INFO(dropped.text);
      REQUIRE(dropped.text == goal.DrawEpisode(9, number, Split::kTrain, noise)->text);
      REQUIRE(dropped.values == whole.values);
      REQUIRE(dropped.slot_values == whole.slot_values);
      REQUIRE(dropped.situation == whole.situation);
      REQUIRE(dropped.satisfied == whole.satisfied);
      REQUIRE(dropped.optimum == whole.optimum);
      REQUIRE(dropped.milestone_count == whole.milestone_count);
      REQUIRE(ToJson(dropped.start) == ToJson(whole.start));
      REQUIRE(dropped.watch->ToJson() == whole.watch->ToJson());
      for (const auto& [slot, value] : whole.slot_values) {
        REQUIRE(dropped.text.find(value) != std::string::npos);
      }
      others += dropped.text != whole.text ? 1 : 0;
    }
    REQUIRE(others > 30);
  }
}

TEST_CASE("The same seed, number and split give the same episode, another gives another") {
  for (const char* capture : kShipped) {
    for (const auto& goal : AppliedTo(capture)) {
      std::set<std::string> starts;
      for (std::uint64_t number = 0; number < 40; ++number) {
        const Episode one = *goal->DrawEpisode(9, number, Split::kTrain);
        const Episode two = *goal->DrawEpisode(9, number, Split::kTrain);
        REQUIRE(one.text == two.text);
        REQUIRE(one.watch->ToJson() == two.watch->ToJson());
        REQUIRE(one.start.size() == two.start.size());
        std::string start = one.text;
        for (const StartOperation& operation : one.start) start += operation.value.dump();
        starts.insert(start);
      }
      REQUIRE(starts.size() > 10);
    }
  }
}

TEST_CASE("The start satisfies the goal exactly when the episode says so") {
  for (const char* capture : kShipped) {
    for (const auto& goal : AppliedTo(capture)) {
      if (!HasTargets(*goal)) continue;
      for (const Split split : {Split::kTrain, Split::kEvaluate}) {
        for (std::uint64_t number = 0; number < 60; ++number) {
          const Episode episode = *goal->DrawEpisode(3, number, split);
          const Progress progress = Look(episode, StartOf(capture, episode));
          REQUIRE(progress.satisfied == episode.satisfied);
          REQUIRE((episode.optimum == 0) == episode.satisfied);
        }
      }
    }
  }
}

TEST_CASE("At least a fifth of all starts are satisfied already") {
  for (const char* capture : kShipped) {
    int satisfied = 0;
    int drawn = 0;
    for (const auto& goal : AppliedTo(capture)) {
      for (std::uint64_t number = 0; number < 250; ++number, ++drawn) {
        satisfied += goal->DrawEpisode(11, number, Split::kTrain)->satisfied ? 1 : 0;
      }
    }
    REQUIRE(satisfied >= drawn * 0.20);
    REQUIRE(satisfied <= drawn * 0.34);
  }
}

TEST_CASE("Some starts carry leftovers of other goals") {
  const AppliedGoal& goal = Find("hpe-dl380a-gen12", "power_on");
  std::vector<std::size_t> sizes;
  for (std::uint64_t number = 0; number < 100; ++number) {
    sizes.push_back(goal.DrawEpisode(1, number, Split::kTrain)->start.size());
  }
  const auto without =
      std::count(sizes.begin(), sizes.end(), *std::min_element(sizes.begin(), sizes.end()));
  REQUIRE(without > 0);
  REQUIRE(without < 70);
}

TEST_CASE("Sentences and values of evaluation are none of training's") {
  for (const auto& goal : Suite()) {
    INFO(goal->name());
    const std::set<std::string> sentences = goal->TrainTexts(20000);
    REQUIRE(sentences.size() >= 40);
    REQUIRE(goal->evaluation_phrasings().size() >= 3);
    for (const std::string& sentence : goal->evaluation_phrasings()) {
      REQUIRE_FALSE(sentences.contains(sentence));
      for (const PhrasePattern& pattern : goal->train_patterns()) {
        REQUIRE_FALSE(pattern.Generates(sentence));
      }
    }
  }
  std::set<std::string> train;
  std::set<std::string> evaluate;
  const AppliedGoal& goal = Find("dell-r750", "asset_tag");
  for (std::uint64_t number = 0; number < 200; ++number) {
    const Episode one = *goal.DrawEpisode(1, number, Split::kTrain);
    const Episode other = *goal.DrawEpisode(1, number, Split::kEvaluate);
    train.insert(one.slot_values.at("AssetTag").get<std::string>());
    evaluate.insert(other.slot_values.at("AssetTag").get<std::string>());
  }
  REQUIRE(train.size() == 200);
  for (const std::string& value : evaluate) REQUIRE_FALSE(train.contains(value));
}

TEST_CASE("Texts are complete: no placeholder is left, every slot value is said") {
  for (const char* capture : kShipped) {
    for (const auto& goal : AppliedTo(capture)) {
      for (std::uint64_t number = 0; number < 50; ++number) {
        for (const Split split : {Split::kTrain, Split::kEvaluate}) {
          const Episode episode = *goal->DrawEpisode(2, number, split);
          REQUIRE(episode.text.find_first_of("{}$") == std::string::npos);
          if (goal->goal().name() != "asset_tag") continue;
          const auto tag = episode.slot_values.at("AssetTag").get<std::string>();
          REQUIRE(episode.text.find(tag) != std::string::npos);
        }
      }
    }
  }
}

TEST_CASE("What a sentence of training says stands in it as a value that an agent can choose") {
  for (const char* capture : {"dmtf-rackmount1", "hpe-dl380a-gen12"}) {
    for (const auto& goal : AppliedTo(capture)) {
      for (std::uint64_t number = 0; number < 300; ++number) {
        const Episode episode = goal->DrawEpisode(5, number, Split::kTrain).value();
        const std::vector<SentenceValue> offered = ValuesOf(episode.text);
        for (const auto& [slot, value] : episode.slot_values) {
          if (!value.is_string() || !goal->goal().definition().parameters.contains(slot)) continue;
          const auto text = value.get<std::string>();
          if (episode.text.find(text) == std::string::npos) continue;
          // A host that is said in an address is a part of that value.
          if (episode.text.find("//" + text) != std::string::npos) continue;
          INFO(goal->goal().name() << ": " << slot << " in: " << episode.text);
          REQUIRE(std::any_of(offered.begin(), offered.end(),
                              [&](const SentenceValue& one) { return one.value == text; }));
        }
      }
    }
  }
}

TEST_CASE("A goal's text says only what this capture has") {
  const AppliedGoal& hpe = Find("hpe-dl380a-gen12", "protocol_hardening");
  const AppliedGoal& openbmc = Find("openbmc-stock", "locate");
  for (std::uint64_t number = 0; number < 50; ++number) {
    const std::string text = hpe.DrawEpisode(1, number, Split::kTrain)->text;
    REQUIRE(text.find("IPMI") != std::string::npos);
    REQUIRE(text.find("NTP") == std::string::npos);
    REQUIRE(text.find("Telnet") == std::string::npos);
    REQUIRE(openbmc.DrawEpisode(1, number, Split::kTrain)->text.find("chassis") ==
            std::string::npos);
  }
}

TEST_CASE("Either indicator is a truthful way to be located") {
  const Episode episode = DrawStart(Find("openbmc-stock", "locate"), 1);
  const std::string system = "/redfish/v1/Systems/system";
  for (const auto& [pointer, value] : {std::pair<std::string, Json>{"/IndicatorLED", "Lit"},
                                       {"/IndicatorLED", "Blinking"},
                                       {"/LocationIndicatorActive", true}}) {
    FakeState state = StartOf("openbmc-stock", episode);
    Assign(state.Edit(system), pointer, value);
    REQUIRE(Look(episode, state).satisfied);
  }
}

TEST_CASE("A forced power off spoils the graceful one") {
  const Episode episode = DrawStart(Find("dell-r750", "graceful_off"), 1);
  FakeState state = StartOf("dell-r750", episode);
  Assign(state.Edit("/redfish/v1/Systems/System.Embedded.1"), "/PowerState", "Off");
  REQUIRE(Look(episode, state).satisfied);
  state.records.push_back(
      {"reset", "/redfish/v1/Chassis/System.Embedded.1", {{"ResetType", "ForceOff"}}, 1.0});
  REQUIRE_FALSE(Look(episode, state).satisfied);
}

TEST_CASE(
    "Setting the PXE override is a milestone, booting from it with the override gone is the goal") {
  const AppliedGoal& goal = Find("dmtf-rackmount1", "pxe_once");
  const std::string system = "/redfish/v1/Systems/437XR1138R2";
  const Episode episode = DrawStart(goal, 2);
  REQUIRE(episode.milestone_count == 1);
  FakeState state = StartOf("dmtf-rackmount1", episode);
  REQUIRE(Look(episode, state).milestones == 0);
  Assign(state.Edit(system), "/Boot/BootSourceOverrideTarget", "Pxe");
  Assign(state.Edit(system), "/Boot/BootSourceOverrideEnabled", "Once");
  REQUIRE(Look(episode, state).milestones == 1);
  state.records.push_back({"boot", system, {{"target", "Pxe"}}, 1.0});
  REQUIRE_FALSE(Look(episode, state).satisfied);
  Assign(state.Edit(system), "/Boot/BootSourceOverrideEnabled", "Disabled");
  REQUIRE(Look(episode, state).satisfied);
  REQUIRE(DrawStart(goal, 1).satisfied == false);
}

TEST_CASE("The catalog offers a request for every target that a start leaves open") {
  for (const char* capture : kShipped) {
    const auto catalog = Catalog::Build(Shipped(capture), ShippedSchema()).value();
    for (const auto& goal : AppliedTo(capture)) {
      if (!HasTargets(*goal)) continue;
      for (std::uint64_t number = 0; number < 4; ++number) {
        const Episode episode = *goal->DrawEpisode(8, number, Split::kTrain);
        if (episode.satisfied) continue;
        const FakeState start = StartOf(capture, episode);
        const Progress before = Look(episode, start);
        bool progress = false;
        for (const Candidate& candidate : catalog->candidates()) {
          const bool watched = Watched(episode, candidate.uri);
          if (candidate.method != "PATCH" || !watched) continue;
          runtime::Random random(1);
          FakeState state = start;
          state.Edit(candidate.uri).merge_patch(BindSlots(candidate, episode.slot_values, random));
          const Progress after = Look(episode, state);
          progress = after.satisfied || after.milestones > before.milestones;
          if (progress) break;
        }
        const std::string& name = goal->goal().name();
        const bool by_reset = name == "power_on" || name == "graceful_off" ||
                              (name == "pxe_once" && episode.optimum == 1);
        REQUIRE(progress != by_reset);
      }
    }
  }
}

TEST_CASE("A goal with situations is refused for places, starts and steps that are none") {
  const doubles::TemporaryFolder folder;
  const auto refuse = [&](const std::string& text) {
    const auto goal = Goal::Load(folder.Write("wrong.toml", text));
    REQUIRE(goal.status().code() == absl::StatusCode::kInvalidArgument);
    return std::string(goal.status().message());
  };
  const std::string head = "id = 1\nname = \"a\"\ntrain = [\"x\"]\nevaluate = [\"y\"]\n";
  const std::string situation = "[[situations]]\nname = \"s\"\noptimum = 1\n";
  REQUIRE(Goal::Load(folder.Write("right.toml", head + situation)).ok());
  REQUIRE(refuse(head + "[[situations]]\nname = \"s\"\n").find("optimum") != std::string::npos);
  REQUIRE(refuse(head + situation + "start = [{ uri = \"/x\", value = 1 }]\n").find("pointer") !=
          std::string::npos);
  REQUIRE(refuse(head + situation + "[[places]]\nname = \"p\"\nfrom = \"moon\"\n").find("moon") !=
          std::string::npos);
  REQUIRE(refuse(head + situation + "[[plan]]\nmethod = \"PATCH\"\n").find("uri") !=
          std::string::npos);
  REQUIRE(refuse(head + situation + "[[plan]]\nmethod = \"WAIT\"\n").find("until") !=
          std::string::npos);
}

TEST_CASE("A wrong goal file is refused, naming file and key") {
  const doubles::TemporaryFolder folder;
  const auto refuse = [&](const std::string& text) {
    const std::string path = folder.Write("wrong.toml", text);
    const auto goal = Goal::Load(path);
    REQUIRE(goal.status().code() == absl::StatusCode::kInvalidArgument);
    const std::string message(goal.status().message());
    REQUIRE(message.find(path) != std::string::npos);
    return message;
  };
  const std::string head = "id = 1\nname = \"a\"\ntrain = [\"x\"]\nevaluate = [\"y\"]\n";
  const std::string target =
      "[[targets]]\nname = \"t\"\nresource = \"system\"\n"
      "properties = [{ pointer = \"/A\", wanted = [1], start = [0] }]\n";
  REQUIRE(Goal::Load(folder.Write("right.toml", head + target)).ok());
  REQUIRE(refuse(head + "colour = 1\n" + target).find("colour") != std::string::npos);
  REQUIRE(refuse(head + "satisfied_share = 2.0\n" + target).find("satisfied_share") !=
          std::string::npos);
  REQUIRE(refuse(head + "[parameters]\nX = \"poem\"\n" + target).find("\"X\"") !=
          std::string::npos);
  REQUIRE(refuse(head).find("targets") != std::string::npos);
  REQUIRE(refuse(head + "colour = 1\n" + target).find("wrong.toml:5") != std::string::npos);
  const std::string repeats = "train = [\"it\", \"this\"]\nevaluate = [\"this\"]\n";
  REQUIRE(refuse(head + target + repeats).find("repeats \"this\"") != std::string::npos);
  REQUIRE(refuse("id = ").find("wrong.toml") != std::string::npos);
  REQUIRE(refuse(head + "[[targets]]\nname = \"t\"\nresource = \"moon\"\n").find("moon") !=
          std::string::npos);
  REQUIRE(Goal::Load("/nowhere.toml").status().code() == absl::StatusCode::kNotFound);
  REQUIRE(LoadGoals("/nowhere").status().code() == absl::StatusCode::kNotFound);
  folder.Write("wrong.toml", head + target);
  REQUIRE(LoadGoals(folder.path()).status().code() == absl::StatusCode::kInvalidArgument);
}

TEST_CASE("A person's sentences take the place of the evaluation's, and wrong ones are named") {
  const doubles::TemporaryFolder folder;
  const GoalSuite suite = LoadGoals("data/goals").value();
  const auto with = [&](const std::string& toml) {
    folder.Write("said.toml", toml);
    return WithEvaluationPhrasings(suite, folder.At("said.toml"));
  };
  const GoalSuite said = with("asset_tag = [\"{AssetTag} for {targets}\"]").value();
  REQUIRE(said.size() == suite.size());
  for (std::size_t i = 0; i < said.size(); ++i) {
    if (said[i]->name() != "asset_tag") {
      REQUIRE(said[i] == suite[i]);
      continue;
    }
    const auto capture = Capture::Load("data/captures/hpe-dl380a-gen12.tar.xz").value();
    const auto goal = AppliedGoal::Create(said[i], *capture, said).value();
    const Episode episode = goal->DrawEpisode(1, 1, Split::kEvaluate).value();
    REQUIRE(
        episode.text.starts_with(episode.slot_values.at("AssetTag").get<std::string>() + " for "));
    REQUIRE(goal->DrawEpisode(1, 1, Split::kTrain).value().text !=
            goal->DrawEpisode(1, 1, Split::kEvaluate).value().text);
  }
  const auto refusal = [&](const std::string& toml) {
    return std::string(with(toml).status().message());
  };
  REQUIRE(refusal("fly = [\"up\"]").find("no goal fly") != std::string::npos);
  REQUIRE(refusal("asset_tag = [\"tag {targets}\"]").find("lacks {AssetTag}") != std::string::npos);
  REQUIRE(refusal("power_on = [\"{Moon} on\"]").find("{Moon}") != std::string::npos);
  REQUIRE(refusal("power_on = \"on\"").find("array") != std::string::npos);
  REQUIRE(refusal("power_on = []").find("no sentence") != std::string::npos);
  REQUIRE(refusal("power_on = [").find("said.toml") != std::string::npos);
}

}  // namespace
}  // namespace shoal::redfish
