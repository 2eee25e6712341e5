// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/redfish_environment.h"

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "actor/environments/http_service.h"
#include "actor/environments/inprocess_service.h"
#include "actor/environments/redfish_source.h"
#include "actor/environments/reward.h"
#include "mockserver/faults/fault.h"
#include "redfish/goals/sentence_values.h"
#include "tests/actor/demonstrations/played.h"
#include "tests/actor/environments/http_servers.h"

namespace shoal::actor {
namespace {

constexpr const char* kCapture = "openbmc-stock";

const RedfishData& Data() {
  static const RedfishData data = LoadInProcess({.captures = {kCapture}});
  return data;
}

const redfish::Catalog& Catalog() { return *Data().tasks->catalogs.at(kCapture).catalog; }

// Returns the index of the first candidate for which `wanted` holds.
std::int64_t Find(const std::function<bool(const redfish::Candidate&)>& wanted) {
  const auto& candidates = Catalog().candidates();
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (wanted(candidates[i])) return static_cast<std::int64_t>(i);
  }
  throw std::runtime_error("no such candidate");
}

std::int64_t GetSystem() {
  return Find([](const auto& candidate) {
    return candidate.method == "GET" && candidate.type.find("#ComputerSystem.") == 0;
  });
}

std::int64_t ResetTo(const std::string& type) {
  return Find([&](const auto& candidate) {
    return candidate.action == "ComputerSystem.Reset" && candidate.body["ResetType"] == type;
  });
}

// An environment whose calls the test waits for.
class Player {
 public:
  explicit Player(std::unique_ptr<RedfishService> service,
                  boost::asio::io_context* context = nullptr,
                  std::shared_ptr<const RedfishTasks> tasks = Data().tasks)
      : context_(context),
        environment_(std::move(tasks), std::move(service), std::make_shared<ResponseCache>()) {}
  Player() : Player(std::make_unique<InProcessService>(Data().worlds)) {}

  Transition Reset(const EpisodeStart& start) {
    return Await(context_, [&](auto done) { environment_.Reset(start, done); });
  }
  Transition Step(std::int64_t action) {
    return Await(context_, [&](auto done) { environment_.Step(action, done); });
  }
  RedfishEnvironment& environment() { return environment_; }

 private:
  boost::asio::io_context* const context_;
  RedfishEnvironment environment_;
};

// Finds the first episode of `goal` whose goal holds at the start, or does not.
EpisodeStart EpisodeWhere(Player& player, const std::string& goal, bool satisfied) {
  for (std::uint64_t episode = 0; episode < 100; ++episode) {
    const EpisodeStart start{.environment_id = 1, .episode = episode, .pair = PairOf(Data(), goal)};
    player.Reset(start);
    if (player.environment().episode().satisfied == satisfied) return start;
  }
  throw std::runtime_error("no such episode");
}

TEST_CASE("A goal whose values have to be told apart tells what stands around them") {
  const RedfishData data = LoadInProcess({.captures = {kCapture}, .goals = {8}});
  Player player(std::make_unique<InProcessService>(data.worlds), nullptr, data.tasks);
  const Transition first = player.Reset({.environment_id = 1, .pair = 0});
  const std::string& text = player.environment().episode().text;
  const auto content = nlohmann::json::parse(*first.observation.contents[0].text);
  REQUIRE(content.at("goal") == text);
  REQUIRE(content.at("around") == redfish::TextsAroundValues(text));
  REQUIRE(content.at("around").size() == 3);
  REQUIRE(first.observation.contents[3].key == first.observation.contents[0].key);
}

TEST_CASE("An episode starts in the situation that its start names") {
  const RedfishData data = LoadInProcess({.captures = {kCapture}, .goals = {8}});
  Player player(std::make_unique<InProcessService>(data.worlds), nullptr, data.tasks);
  const auto situations = data.tasks->goals.at(0)->Situations();
  REQUIRE(data.tasks->pairs.at(0).situations.size() == situations.size());
  REQUIRE(situations.size() > 2);
  for (std::size_t i = 0; i < situations.size(); ++i) {
    REQUIRE(data.tasks->pairs[0].situations[i].satisfied == situations[i].satisfied);
    for (std::uint64_t episode = 0; episode < 3; ++episode) {
      player.Reset({.environment_id = 1, .episode = episode, .pair = 0, .situation = i});
      REQUIRE(player.environment().episode().situation == situations[i].name);
      REQUIRE(player.environment().facts().situation == situations[i].name);
    }
  }
}

TEST_CASE("Turning a server on by the one right request succeeds at once") {
  Player player;
  const EpisodeStart start = EpisodeWhere(player, "1 power_on", false);
  const Transition first = player.Reset(start);
  REQUIRE(first.observation.contents.size() == 4);
  REQUIRE(*first.observation.contents[0].text == player.environment().episode().text);
  REQUIRE(first.observation.contents[1].key.IsZero());
  REQUIRE(first.observation.numeric.size() == RedfishEnvironment::kObservationSize);

  const Transition looked = player.Step(GetSystem());
  REQUIRE(looked.end == End::kNone);
  REQUIRE(looked.reward == Approx(-0.01));
  REQUIRE(looked.observation.contents[1].key ==
          Catalog().candidates()[static_cast<std::size_t>(GetSystem())].key);
  REQUIRE(looked.observation.contents[2].text->find("PowerState") != std::string::npos);
  REQUIRE(looked.observation.numeric[1] == 1.0F);

  const Transition done = player.Step(ResetTo("On"));
  REQUIRE(done.end == End::kTerminated);
  REQUIRE(done.reward >= 0.99F);
  const EpisodeFacts facts = player.environment().facts();
  REQUIRE(facts.success);
  REQUIRE(facts.clean);
  REQUIRE(facts.steps == 2);
  REQUIRE(facts.mutations == 1);
  REQUIRE(facts.optimum == 1);
  REQUIRE(facts.goal == "1 power_on");
}

TEST_CASE("A goal that holds at the start is reached by looking") {
  Player player;
  const EpisodeStart start = EpisodeWhere(player, "1 power_on", true);
  player.Reset(start);
  const Transition looked = player.Step(GetSystem());
  REQUIRE(looked.end == End::kTerminated);
  REQUIRE(player.environment().facts().success);
  REQUIRE(player.environment().facts().satisfied_at_start);
  REQUIRE(player.environment().facts().mutations == 0);
}

TEST_CASE("The episode limit terminates, and the remaining budget is observed") {
  Player player;
  const EpisodeStart start = EpisodeWhere(player, "1 power_on", false);
  player.Reset(start);
  const std::int64_t get = GetSystem();
  for (int step = 1; step <= 16; ++step) {
    const Transition transition = player.Step(get);
    REQUIRE(transition.end == (step == 16 ? End::kTerminated : End::kNone));
    REQUIRE(transition.observation.numeric[6] == Approx(1.0 - step / 16.0));
  }
  REQUIRE_FALSE(player.environment().facts().success);
}

TEST_CASE("Evaluation has texts that training never shows") {
  Player player;
  std::set<std::string> training;
  std::set<std::string> evaluation;
  for (std::uint64_t episode = 0; episode < 60; ++episode) {
    EpisodeStart start{
        .environment_id = 1, .episode = episode, .pair = PairOf(Data(), "1 power_on")};
    player.Reset(start);
    training.insert(player.environment().episode().text);
    start.evaluation = true;
    player.Reset(start);
    evaluation.insert(player.environment().episode().text);
  }
  for (const std::string& text : evaluation) REQUIRE(training.count(text) == 0);
}

TEST_CASE("The same seed, environment and actions give the same trajectory") {
  Player one;
  Player two;
  const auto trace = Walk(one, 9, 12);
  Walk(two, 3, 2);
  REQUIRE(Walk(two, 9, 12) == trace);
  REQUIRE(Walk(two, 10, 12) != trace);
}

TEST_CASE("A service over HTTP and one in process give the same trajectory") {
  HttpServers servers(Data().worlds);
  boost::asio::io_context context;
  const auto connections = servers.Connect(context, 1);
  Player over_http(std::make_unique<HttpService>(connections, 9), &context);
  Player in_process;
  REQUIRE(Walk(over_http, 9, 12) == Walk(in_process, 9, 12));
}

std::shared_ptr<const RedfishTasks> TasksWith(const FaultOptions& faults) {
  auto tasks = std::make_shared<RedfishTasks>(*Data().tasks);
  tasks->options.faults = faults;
  return tasks;
}

TEST_CASE("Services that fail do so alike over HTTP and in process, and unlike those that do not") {
  const auto tasks = TasksWith({.rate = 0.8, .latency_ms = 20'000});
  HttpServers servers(Data().worlds);
  boost::asio::io_context context;
  const auto connections = servers.Connect(context, 1);
  Player over_http(std::make_unique<HttpService>(connections, 9), &context, tasks);
  Player in_process(std::make_unique<InProcessService>(Data().worlds), nullptr, tasks);
  Player sound;
  const auto trace = Walk(in_process, 9, 12);
  REQUIRE(Walk(over_http, 9, 12) == trace);
  REQUIRE(Walk(sound, 9, 12) != trace);
}

TEST_CASE("Each episode has a rate of failures of its own, the same whenever it is played") {
  Player player(std::make_unique<InProcessService>(Data().worlds), nullptr,
                TasksWith({.rate = 0.9}));
  // Whatever the goal, none is reached by reading the system, unless it holds.
  const auto failures = [&](std::uint64_t episode) {
    int failed = 0;
    Transition transition = player.Reset({.environment_id = 1, .episode = episode});
    while (transition.end == End::kNone) {
      transition = player.Step(GetSystem());
      if (player.environment().last_status() == 503) ++failed;
    }
    return failed;
  };
  std::set<int> seen;
  for (std::uint64_t episode = 0; episode < 20; ++episode) {
    const int failed = failures(episode);
    REQUIRE(failures(episode) == failed);
    seen.insert(failed);
  }
  REQUIRE(seen.size() >= 5);
}

TEST_CASE("Only episodes that have to wait for tasks have a higher limit") {
  constexpr std::int64_t kLimit = 4;
  constexpr std::int64_t kHighest = 12;
  // Whatever the goal, none is reached by reading the system, unless it holds.
  const auto lengths = [&](const FaultOptions& faults) {
    auto tasks = std::make_shared<RedfishTasks>(*TasksWith(faults));
    tasks->options.limit_per_expert_request = 1.5;
    tasks->options.episode_limit = kHighest;
    tasks->limits.assign(tasks->pairs.size(), kLimit);
    Player player(std::make_unique<InProcessService>(Data().worlds), nullptr, tasks);
    std::set<std::int64_t> seen;
    for (std::uint64_t episode = 0; episode < 40; ++episode) {
      Transition transition = player.Reset({.environment_id = 1, .episode = episode});
      while (transition.end == End::kNone) transition = player.Step(GetSystem());
      const EpisodeFacts facts = player.environment().facts();
      if (!facts.success) seen.insert(facts.steps);
    }
    return seen;
  };
  REQUIRE(lengths({}) == std::set<std::int64_t>{kLimit});
  // A task that takes up to one wait adds a wait and a look for each mutation, half as many again.
  const std::set<std::int64_t> waiting = lengths({.tasks = 1, .task_ms = 5'000});
  REQUIRE(waiting.contains(kLimit));
  REQUIRE(waiting.contains(kLimit + 3));
  REQUIRE(*waiting.rbegin() <= kHighest);
}

TEST_CASE("The tag that comes with an accepted change is not taken for the changed resource's") {
  const auto light = [](bool on) {
    return Find([on](const auto& candidate) {
      return candidate.method == "PATCH" && candidate.type.find("#ComputerSystem.") == 0 &&
             candidate.body == nlohmann::json{{"LocationIndicatorActive", on}};
    });
  };
  Player player(std::make_unique<InProcessService>(Data().worlds), nullptr,
                TasksWith({.tasks = 1, .task_ms = 0}));
  player.Reset(EpisodeWhere(player, "1 power_on", false));
  player.Step(GetSystem());
  for (const bool on : {true, false}) {
    player.Step(light(on));
    REQUIRE(player.environment().last_status() == 202);
  }
}

TEST_CASE("An instance that the mock server has lost costs one episode and is made again") {
  HttpServers servers(Data().worlds);
  boost::asio::io_context context;
  const auto connections = servers.Connect(context, 1);
  Player player(std::make_unique<HttpService>(connections, 9), &context);
  player.Reset({.environment_id = 9});
  REQUIRE(servers.table->Delete("e9-" + std::string(kCapture)));
  std::optional<absl::Status> lost;
  player.environment().Step(
      GetSystem(), [&](absl::StatusOr<Transition> transition) { lost = transition.status(); });
  context.restart();
  while (!lost && context.run_one_for(std::chrono::seconds(5)) > 0) {
  }
  REQUIRE(lost.has_value());
  REQUIRE(absl::IsUnavailable(*lost));
  player.Reset({.environment_id = 9, .episode = 1});
  player.Step(GetSystem());
  REQUIRE(servers.table->Delete("e9-" + std::string(kCapture)));
  player.Reset({.environment_id = 9, .episode = 2});
}

TEST_CASE("An action outside of the catalog is an error") {
  Player player;
  player.Reset({.environment_id = 1});
  absl::Status status;
  player.environment().Step(
      static_cast<std::int64_t>(Catalog().size()),
      [&](absl::StatusOr<Transition> transition) { status = transition.status(); });
  REQUIRE(absl::IsInvalidArgument(status));
}

TEST_CASE("Rewards add up as the knobs say") {
  const RewardOptions options;
  const auto judge = [&](StepOutcome outcome) { return Judge(options, outcome).reward; };
  REQUIRE(judge({.status = 200}) == Approx(-0.01));
  REQUIRE(judge({.status = 404}) == Approx(-0.06));
  REQUIRE(judge({.status = 200, .after = {.milestones = 1}, .milestone_count = 2}) == Approx(0.09));
  REQUIRE(judge({.status = 200,
                 .before = {.milestones = 1},
                 .after = {.milestones = 1},
                 .milestone_count = 2}) == Approx(-0.01));
  REQUIRE(judge({.status = 200, .after = {.collateral = 2}}) == Approx(-0.21));
  REQUIRE(judge({.status = 200, .before = {.collateral = 1}}) == Approx(0.09));
  REQUIRE(judge({.status = 200, .after = {.satisfied = true}}) == Approx(0.99));
  REQUIRE(judge({.status = 200,
                 .before = {.collateral = 1},
                 .after = {.satisfied = true, .collateral = 1}}) == Approx(0.29));
  REQUIRE(Judge(options, {.status = 200, .last = true}).ends);
  REQUIRE_FALSE(Judge(options, {.status = 500}).ends);
}

TEST_CASE("A read that can tell nothing new costs what its knob says, whatever it answers") {
  const RewardOptions options;
  REQUIRE(Judge(options, {.status = 200, .repeated = true}).reward == Approx(-0.11));
  REQUIRE(Judge(options, {.status = 404, .repeated = true}).reward == Approx(-0.16));
  REQUIRE(Judge(options, {.status = 200}).reward == Approx(-0.01));
}

// Returns the first PATCH that the service answers 4xx in this episode.
std::int64_t FindRefusedPatch(Player& player, const EpisodeStart& start) {
  const auto& candidates = Catalog().candidates();
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (candidates[i].method != "PATCH") continue;
    player.Reset(start);
    const auto action = static_cast<std::int64_t>(i);
    const bool ends = player.Step(action).end != End::kNone;
    const int status = player.environment().last_status();
    if (!ends && status >= 400 && status < 500 && status != 412) return action;
  }
  throw std::runtime_error("no PATCH is refused");
}

TEST_CASE("A read repeats what is known until something changes or time goes by") {
  Player player;
  const EpisodeStart start = EpisodeWhere(player, "2 graceful_off", false);
  const std::int64_t get = GetSystem();
  const std::int64_t wait =
      Find([](const auto& candidate) { return candidate.method == redfish::kWaitMethod; });
  const std::int64_t other = Find([&](const auto& candidate) {
    return candidate.method == "GET" && candidate.uri.find("/Chassis/") != std::string::npos;
  });
  // A refused request changes nothing.
  const std::int64_t refused = FindRefusedPatch(player, start);
  const auto repeats = [&](std::int64_t action) {
    const Transition transition = player.Step(action);
    REQUIRE(transition.end == End::kNone);
    const bool repeated = player.environment().last_repeated();
    if (action == get || action == other) {
      REQUIRE(transition.reward == Approx(repeated ? -0.11 : -0.01));
    }
    return repeated;
  };
  player.Reset(start);
  REQUIRE_FALSE(repeats(get));
  REQUIRE_FALSE(repeats(other));
  REQUIRE(repeats(get));
  REQUIRE_FALSE(repeats(wait));
  REQUIRE_FALSE(repeats(get));
  REQUIRE(repeats(get));
  REQUIRE_FALSE(repeats(refused));
  REQUIRE(repeats(get));
  REQUIRE_FALSE(repeats(ResetTo("ForceRestart")));
  REQUIRE_FALSE(repeats(get));
  player.Reset(start);
  REQUIRE_FALSE(repeats(get));
}

TEST_CASE("A read that was not answered is none, however often it is tried") {
  const auto busy = mockserver::FaultSet::Parse(
      {{"faults", {{{"name", "busy"}, {"path", "/redfish/v1/Systems/**"}, {"status", 503}}}}});
  REQUIRE(busy.ok());
  Player player(std::make_unique<InProcessService>(Data().worlds,
                                                   mockserver::InstanceOptions{.faults = *busy}));
  player.Reset({.environment_id = 1});
  for (int time = 0; time < 3; ++time) {
    player.Step(GetSystem());
    REQUIRE(player.environment().last_status() == 503);
    REQUIRE_FALSE(player.environment().last_repeated());
  }
}

TEST_CASE("Training's sentences lose words as the knob says, evaluation's never do") {
  auto tasks = std::make_shared<RedfishTasks>(*Data().tasks);
  tasks->options.word_dropout = 1;
  RedfishEnvironment dropping(tasks, std::make_unique<InProcessService>(Data().worlds),
                              std::make_shared<ResponseCache>());
  Player player;
  for (const bool evaluation : {false, true}) {
    for (std::uint64_t episode = 0; episode < 5; ++episode) {
      const EpisodeStart start{.environment_id = 1,
                               .episode = episode,
                               .pair = PairOf(Data(), "3 locate"),
                               .evaluation = evaluation};
      player.Reset(start);
      Await(nullptr, [&](auto done) { dropping.Reset(start, done); });
      const bool same = dropping.episode().text == player.environment().episode().text;
      REQUIRE(same == evaluation);
    }
  }
}

void RequireEqual(const Transition& one, const Transition& other) {
  REQUIRE(one.reward == other.reward);
  REQUIRE(one.end == other.end);
  REQUIRE(one.observation.numeric == other.observation.numeric);
  REQUIRE(one.observation.contents.size() == other.observation.contents.size());
  for (std::size_t i = 0; i < one.observation.contents.size(); ++i) {
    REQUIRE(one.observation.contents[i].key == other.observation.contents[i].key);
  }
  REQUIRE(one.observation.catalog->key() == other.observation.catalog->key());
  REQUIRE(one.observation.marks == other.observation.marks);
}

// Candidates that are whole requests, with those that goals are reached by among them so often that
// episodes of a few random actions reach some.
std::vector<std::int64_t> LikelyActions() {
  std::vector<std::int64_t> actions;
  const auto& candidates = Catalog().candidates();
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const redfish::Candidate& candidate = candidates[i];
    if (candidate.composes() || !candidate.slots.empty()) continue;
    const bool decides = candidate.action == "ComputerSystem.Reset" ||
                         candidate.method == redfish::kWaitMethod || candidate.method == "PATCH";
    for (int copies = decides ? 4 : 1; copies > 0; --copies) {
      actions.push_back(static_cast<std::int64_t>(i));
    }
  }
  return actions;
}

TEST_CASE("An episode told again is what a service with that goal would have answered") {
  const auto actions = LikelyActions();
  const auto cache = std::make_shared<ResponseCache>();
  RedfishEnvironment environment(Data().tasks, std::make_unique<InProcessService>(Data().worlds),
                                 cache, true);
  Player others;
  runtime::Random random(3);
  std::set<std::string> told_goals;
  int told_in_all = 0;
  for (std::uint64_t episode = 0; episode < 150; ++episode) {
    EpisodeStart start{.environment_id = 7, .episode = episode};
    start.pair = episode % Data().tasks->pairs.size();
    Transition last = Await(nullptr, [&](auto done) { environment.Reset(start, done); });
    const redfish::Episode given = environment.episode();
    std::vector<std::int64_t> taken;
    std::vector<std::pair<std::size_t, AchievedGoal>> achieved;
    while (last.end == End::kNone) {
      taken.push_back(actions[random.Below(actions.size())]);
      last = Await(nullptr, [&](auto done) { environment.Step(taken.back(), done); });
      for (const AchievedGoal& goal : last.achieved) achieved.emplace_back(taken.size(), goal);
    }
    for (const auto& [step, goal] : achieved) {
      const auto told = environment.Relabel(goal.goal);
      REQUIRE(told.ok());
      REQUIRE(told->transitions.size() == told->actions.size() + 1);
      REQUIRE(told->actions.size() <= step);
      // The same start, but the text and the watch of the other goal.
      std::size_t pair = 0;
      redfish::Episode other;
      for (; pair < Data().tasks->pairs.size(); ++pair) {
        EpisodeStart same = start;
        same.pair = pair;
        others.Reset(same);
        other = others.environment().episode();
        if (other.text == goal.sentence) break;
      }
      REQUIRE(pair < Data().tasks->pairs.size());
      REQUIRE(pair != *start.pair);
      other.start = given.start;
      auto tasks = std::make_shared<RedfishTasks>(*Data().tasks);
      tasks->given = {other};
      RedfishEnvironment real(tasks, std::make_unique<InProcessService>(Data().worlds), cache);
      EpisodeStart same = start;
      same.pair = pair;
      RequireEqual(told->transitions[0],
                   Await(nullptr, [&](auto done) { real.Reset(same, done); }));
      for (std::size_t i = 0; i < told->actions.size(); ++i) {
        REQUIRE(told->actions[i] == taken[i]);
        RequireEqual(told->transitions[i + 1],
                     Await(nullptr, [&](auto done) { real.Step(taken[i], done); }));
      }
      REQUIRE(real.facts().success);
      REQUIRE(told->transitions.back().end == End::kTerminated);
      if (told->actions.size() == step) REQUIRE(told->transitions.back().reward == goal.reward);
      told_goals.insert(real.facts().goal);
      ++told_in_all;
    }
  }
  INFO(told_in_all);
  REQUIRE(told_in_all >= 20);
  REQUIRE(told_goals.size() >= 3);
}

TEST_CASE("An episode whose value came from its own sentence is not told under another goal") {
  const RedfishData data = LoadInProcess({.captures = {"dmtf-rackmount1"}});
  RedfishEnvironment environment(data.tasks, std::make_unique<InProcessService>(data.worlds),
                                 std::make_shared<ResponseCache>(), true);
  const auto& candidates = data.tasks->catalogs.at("dmtf-rackmount1").catalog->candidates();
  const auto find = [&](const std::function<bool(const redfish::Candidate&)>& wanted) {
    return std::find_if(candidates.begin(), candidates.end(), wanted) - candidates.begin();
  };
  const std::int64_t tag = find([](const redfish::Candidate& candidate) {
    return candidate.method == "PATCH" && !candidate.slots.empty() &&
           candidate.body.contains("AssetTag");
  });
  const auto reset_to = [&](const std::string& type) {
    return find([&](const redfish::Candidate& candidate) {
      return candidate.action == "ComputerSystem.Reset" && candidate.body["ResetType"] == type;
    });
  };
  for (std::uint64_t episode = 0; episode < 100; ++episode) {
    const EpisodeStart start{
        .environment_id = 1, .episode = episode, .pair = PairOf(data, "4 asset_tag")};
    Transition last = Await(nullptr, [&](auto done) { environment.Reset(start, done); });
    const auto act = [&](std::int64_t action) {
      last = Await(nullptr, [&](auto done) { environment.Step(action, done); });
    };
    for (const char* type : {"On", "ForceOff"}) {
      act(tag);
      while (environment.draft().is_open()) act(0);
      if (last.end != End::kNone) break;
      act(reset_to(type));
      if (last.end != End::kNone || last.achieved.empty()) continue;
      REQUIRE(absl::IsFailedPrecondition(environment.Relabel(last.achieved[0].goal).status()));
      return;
    }
  }
  FAIL("no episode achieved another goal");
}

TEST_CASE("Hindsight needs services that watch many goals, and says where they are") {
  EnvironmentOptions options;
  runtime::ClusterOptions cluster;
  const auto source = MakeSource(
      {.environment = options, .cluster = cluster, .captures = {kCapture}, .hindsight = true});
  REQUIRE(absl::IsInvalidArgument(source.status()));
  REQUIRE(runtime::Message(source.status()).find("environment.access") != std::string::npos);
}

TEST_CASE("The igc preset keeps its fixed values and clips") {
  RewardOptions options;
  options.preset = "igc";
  const auto judge = [&](StepOutcome outcome) { return Judge(options, outcome).reward; };
  REQUIRE(judge({.status = 200}) == Approx(0.1));
  REQUIRE(judge({.status = 404}) == Approx(-0.2));
  REQUIRE(judge({.status = 405}) == Approx(-0.1));
  REQUIRE(judge({.status = 503}) == Approx(-0.5));
  REQUIRE(Judge(options, {.status = 503}).ends);
  REQUIRE(judge({.status = 200, .after = {.satisfied = true}}) == Approx(1.0));
  REQUIRE(judge({.status = 404, .last = true}) == Approx(-1.0));
}

TEST_CASE("A watch result is read to its last character") {
  const auto progress = ParseWatchResult("satisfied=1;milestones=5;open=6;collateral=2");
  REQUIRE(progress.ok());
  REQUIRE(progress->satisfied);
  REQUIRE(progress->milestones == 5);
  REQUIRE(progress->open == 6);
  REQUIRE(progress->collateral == 2);
  for (const char* bad : {"", "satisfied=1", "satisfied=1;milestones=5;open=6;collateral=x",
                          "satisfied=1;milestones=5;open=6;collateral=2;more",
                          "satisfied=1;milestones=5;collateral=2"}) {
    REQUIRE(absl::IsDataLoss(ParseWatchResult(bad).status()));
  }
}

}  // namespace
}  // namespace shoal::actor
