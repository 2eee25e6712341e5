// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/fleet_environment.h"

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "actor/environments/environment_source.h"
#include "actor/environments/fleet_tasks.h"
#include "actor/environments/http_service.h"
#include "actor/environments/inprocess_service.h"
#include "actor/environments/redfish_source.h"
#include "tests/actor/demonstrations/played.h"
#include "tests/actor/environments/http_servers.h"

namespace shoal::actor {
namespace {

constexpr const char* kFleetCapture = "openbmc-stock";
constexpr std::size_t kMembers = 3;
// The power that a member of this capture draws.
constexpr std::int64_t kWatts = 500;

EnvironmentOptions Options(std::int64_t budget_watts) {
  EnvironmentOptions options;
  options.captures = {kFleetCapture};
  options.goals = {1, 2, 3};
  options.access = "inprocess";
  options.fleet_size = kMembers;
  options.power_budget_watts = budget_watts;
  return options;
}

const RedfishData& FleetData() {
  static const RedfishData data = LoadInProcess(Options(0));
  return data;
}

// Like FleetData, but with another budget.
std::shared_ptr<const FleetTasks> Fleet(std::int64_t budget_watts) {
  RedfishData data = FleetData();
  auto tasks = std::make_shared<RedfishTasks>(*data.tasks);
  tasks->options = Options(budget_watts);
  data.tasks = std::move(tasks);
  return MakeFleetTasks(data).value();
}

const std::vector<redfish::Candidate>& FleetCandidates() {
  return FleetData().tasks->catalogs.at(kFleetCapture).catalog->candidates();
}

std::int64_t Find(std::size_t member,
                  const std::function<bool(const redfish::Candidate&)>& wanted) {
  const auto& own = FleetCandidates();
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (wanted(own[i])) return static_cast<std::int64_t>(member * own.size() + i);
  }
  throw std::runtime_error("no such candidate");
}

std::int64_t ResetTo(std::size_t member, const std::string& type) {
  return Find(member, [&](const auto& candidate) {
    return candidate.action == "ComputerSystem.Reset" && candidate.body["ResetType"] == type;
  });
}

std::int64_t GetSystem(std::size_t member) {
  return Find(member, [](const auto& candidate) {
    return candidate.method == "GET" && candidate.type.find("#ComputerSystem.") == 0;
  });
}

std::int64_t WaitAction() { return static_cast<std::int64_t>(kMembers * FleetCandidates().size()); }

// A fleet whose calls the test waits for.
class FleetPlayer {
 public:
  using Make = std::function<std::unique_ptr<RedfishService>(std::size_t member)>;

  FleetPlayer(std::shared_ptr<const FleetTasks> fleet, const Make& make,
              boost::asio::io_context* context = nullptr)
      : context_(context) {
    std::vector<std::unique_ptr<RedfishService>> services;
    for (std::size_t member = 0; member < kMembers; ++member) services.push_back(make(member));
    environment_ = std::make_unique<FleetEnvironment>(std::move(fleet), std::move(services),
                                                      std::make_shared<ResponseCache>());
  }
  explicit FleetPlayer(std::int64_t budget_watts, mockserver::InstanceOptions options = {})
      : FleetPlayer(Fleet(budget_watts), [options](std::size_t) {
          return std::make_unique<InProcessService>(FleetData().worlds, options);
        }) {}

  Transition Reset(const EpisodeStart& start) {
    return Await(context_, [&](auto done) { environment_->Reset(start, done); });
  }
  Transition Step(std::int64_t action) {
    return Await(context_, [&](auto done) { environment_->Step(action, done); });
  }
  FleetEnvironment& environment() { return *environment_; }

  // Returns the members whose goal does not hold.
  std::vector<std::size_t> Open() const {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < kMembers; ++i) {
      if (!environment_->member(i).facts().success) open.push_back(i);
    }
    return open;
  }

 private:
  boost::asio::io_context* const context_;
  std::unique_ptr<FleetEnvironment> environment_;
};

// Starts the first episode of `goal` in which the goal of exactly `open` members does not hold.
Transition Begin(FleetPlayer& player, const std::string& goal, std::size_t open) {
  for (std::uint64_t episode = 0; episode < 200; ++episode) {
    Transition first =
        player.Reset({.environment_id = 1, .episode = episode, .pair = PairOf(FleetData(), goal)});
    if (player.Open().size() == open) return first;
  }
  throw std::runtime_error("no such episode");
}

}  // namespace

TEST_CASE("A member draws what its capture's chassis says, or a usual figure") {
  REQUIRE(DrawnWatts(*redfish::Capture::Load("data/captures/dmtf-rackmount1.tar.xz").value()) ==
          344);
  REQUIRE(DrawnWatts(*FleetData().captures.at(kFleetCapture)) == kWatts);
}

TEST_CASE("A fleet's candidates are each member's by its name, and one wait") {
  const auto tasks = Fleet(0);
  const FleetCatalog& fleet = tasks->catalogs.at(kFleetCapture);
  const auto& candidates = fleet.candidates->candidates();
  REQUIRE(candidates.size() == kMembers * FleetCandidates().size() + 1);
  REQUIRE(candidates.back().key == FleetCandidates()[static_cast<std::size_t>(fleet.wait)].key);
  const auto at = static_cast<std::size_t>(ResetTo(1, "On"));
  const auto text = nlohmann::json::parse(*candidates[at].text);
  REQUIRE(text.at("host") == "node-2");
  REQUIRE(text.at("action") == "ComputerSystem.Reset");
  REQUIRE(candidates[at].key == content::KeyOf(*candidates[at].text));
  REQUIRE(candidates[at].key != candidates[static_cast<std::size_t>(ResetTo(0, "On"))].key);
}

TEST_CASE("With a budget for all, the goal is reached when each member's is") {
  FleetPlayer player(3 * kWatts);
  const Transition first = Begin(player, "1 power_on", 2);
  REQUIRE(first.observation.numeric.size() == FleetEnvironment::kObservationSize);
  REQUIRE(first.observation.numeric[10] == Approx(1.0 / 3));
  REQUIRE(first.observation.numeric[11] == Approx(2.0 / 3));
  const std::string& text = *first.observation.contents[0].text;
  REQUIRE(text.find("1500 W") != std::string::npos);
  for (std::size_t i = 0; i < kMembers; ++i) {
    REQUIRE(text.find(MemberName(i) + ": " + player.environment().member(i).episode().text) !=
            std::string::npos);
  }
  const std::vector<std::size_t> open = player.Open();
  const Transition one = player.Step(ResetTo(open[1], "On"));
  REQUIRE(one.end == End::kNone);
  REQUIRE(one.reward == Approx(-0.01 + 0.2 / 3));
  REQUIRE(one.observation.numeric[10] == Approx(2.0 / 3));
  REQUIRE(one.observation.contents[1].text->find(MemberName(open[1])) != std::string::npos);
  const Transition looked = player.Step(GetSystem(open[1]));
  REQUIRE(looked.reward == Approx(-0.01));
  REQUIRE(looked.observation.contents[2].text->find("PowerState") != std::string::npos);
  REQUIRE(player.Step(GetSystem(open[1])).reward == Approx(-0.11));
  REQUIRE(player.Step(GetSystem(open[0])).reward == Approx(-0.01));
  const Transition both = player.Step(ResetTo(open[0], "On"));
  REQUIRE(both.end == End::kTerminated);
  REQUIRE(both.reward > 0.99F);
  const EpisodeFacts facts = player.environment().facts();
  REQUIRE(facts.goal == "1 power_on x3");
  REQUIRE(facts.success);
  REQUIRE(facts.clean);
  REQUIRE(facts.steps == 5);
  REQUIRE(facts.mutations == 2);
  REQUIRE(facts.optimum == 2);
}

TEST_CASE("With a budget for fewer, as many as it has room for are enough, whichever they are") {
  for (const bool in_order : {true, false}) {
    FleetPlayer player(2 * kWatts + 100);
    Begin(player, "1 power_on", 3);
    REQUIRE(player.environment().facts().optimum == 2);
    REQUIRE_FALSE(player.environment().facts().satisfied_at_start);
    REQUIRE(player.Step(ResetTo(in_order ? 0 : 2, "On")).end == End::kNone);
    const Transition done = player.Step(ResetTo(1, "On"));
    REQUIRE(done.end == End::kTerminated);
    REQUIRE(player.environment().facts().success);
    REQUIRE(player.environment().drawn_watts() == 2 * kWatts);
  }
}

TEST_CASE("To draw more than the budget costs, ends the episode, and is no success") {
  FleetPlayer player(kWatts);
  const Transition first = Begin(player, "1 power_on", 2);
  REQUIRE(player.environment().facts().satisfied_at_start);
  REQUIRE(player.environment().facts().optimum == 0);
  REQUIRE(first.observation.numeric[11] == Approx(0));
  const Transition over = player.Step(ResetTo(player.Open()[0], "On"));
  REQUIRE(over.end == End::kTerminated);
  REQUIRE(over.reward < -0.4F);
  REQUIRE(player.environment().drawn_watts() > player.environment().budget_watts());
  REQUIRE_FALSE(player.environment().facts().success);
}

TEST_CASE("A fleet that has what its budget allows is done by looking") {
  FleetPlayer player(kWatts);
  Begin(player, "1 power_on", 2);
  const Transition looked = player.Step(GetSystem(0));
  REQUIRE(looked.end == End::kTerminated);
  REQUIRE(player.environment().facts().success);
  REQUIRE(player.environment().facts().mutations == 0);
}

TEST_CASE("A member that is off is no excuse for what does not need it on") {
  FleetPlayer player(kWatts);
  Begin(player, "3 locate", 3);
  REQUIRE_FALSE(player.environment().facts().satisfied_at_start);
  REQUIRE(player.environment().facts().optimum == 3);
}

TEST_CASE("Side effects of all members add up") {
  FleetPlayer player(0);
  Begin(player, "1 power_on", 2);
  const auto indicate = [](std::size_t member, bool active) {
    return Find(member, [active](const auto& candidate) {
      return candidate.method == "PATCH" && candidate.type.find("#ComputerSystem.") == 0 &&
             candidate.body == nlohmann::json{{"LocationIndicatorActive", active}};
    });
  };
  for (const std::size_t member : {0, 2}) {
    player.Step(indicate(member, true));
    // Without a side effect the indicator was on already, so it is turned off instead.
    if (player.environment().member(member).facts().collateral == 0) {
      player.Step(indicate(member, false));
    }
  }
  REQUIRE(player.environment().facts().collateral == 2);
  REQUIRE(player.environment().member(1).facts().collateral == 0);
}

TEST_CASE("One wait moves the clocks of all members, which draw power until they are off") {
  FleetPlayer player(0, {.power_transient = std::chrono::seconds(4)});
  Begin(player, "2 graceful_off", 2);
  const std::vector<std::size_t> open = player.Open();
  for (const std::size_t member : open) player.Step(ResetTo(member, "GracefulShutdown"));
  REQUIRE(player.Open() == open);
  REQUIRE(player.environment().drawn_watts() == 2 * kWatts);
  const Transition waited = player.Step(WaitAction());
  REQUIRE(waited.end == End::kTerminated);
  REQUIRE(waited.observation.contents[1].text->find("WAIT") != std::string::npos);
  REQUIRE(player.environment().drawn_watts() == 0);
  const EpisodeFacts facts = player.environment().facts();
  REQUIRE(facts.success);
  REQUIRE(facts.steps == 3);
  REQUIRE(facts.mutations == 2);
}

TEST_CASE("The budget of an episode has room for what is on at its start, and varies") {
  FleetPlayer player(0);
  std::set<std::int64_t> budgets;
  for (std::uint64_t episode = 0; episode < 40; ++episode) {
    player.Reset(
        {.environment_id = 3, .episode = episode, .pair = PairOf(FleetData(), "1 power_on")});
    const std::int64_t budget = player.environment().budget_watts();
    REQUIRE(budget >= player.environment().drawn_watts());
    REQUIRE(budget >= kWatts);
    REQUIRE(budget < (static_cast<std::int64_t>(kMembers) + 1) * kWatts);
    budgets.insert(budget / kWatts);
  }
  REQUIRE(budgets.size() == kMembers);
}

TEST_CASE("A fleet over HTTP and one in process give the same trajectory, again and again") {
  FleetPlayer in_process(0);
  const auto trace = Walk(in_process, 9, 8);
  REQUIRE(Walk(in_process, 9, 8) == trace);
  HttpServers servers(FleetData().worlds);
  boost::asio::io_context context;
  const auto connections = servers.Connect(context, 2);
  FleetPlayer over_http(
      Fleet(0),
      [&](std::size_t member) { return std::make_unique<HttpService>(connections, 9 + member); },
      &context);
  REQUIRE(Walk(over_http, 9, 8) == trace);
}

TEST_CASE("Evaluation has budgets in words that training never shows") {
  FleetPlayer player(3 * kWatts);
  const auto lead = [&](bool evaluation, std::uint64_t episode) {
    const Transition first = player.Reset(
        {.environment_id = 1, .episode = episode, .pair = 0, .evaluation = evaluation});
    const std::string& text = *first.observation.contents[0].text;
    return text.substr(0, text.find(MemberName(0)));
  };
  std::set<std::string> trained;
  for (std::uint64_t episode = 0; episode < 40; ++episode) trained.insert(lead(false, episode));
  REQUIRE(trained.size() == 3);
  for (std::uint64_t episode = 0; episode < 20; ++episode) {
    REQUIRE_FALSE(trained.contains(lead(true, episode)));
  }
}

TEST_CASE("An action past the fleet's candidates is an error") {
  FleetPlayer player(0);
  player.Reset({.environment_id = 1});
  absl::Status status;
  player.environment().Step(WaitAction() + 1, [&](absl::StatusOr<Transition> transition) {
    status = transition.status();
  });
  REQUIRE(absl::IsInvalidArgument(status));
}

TEST_CASE("More than one service an environment makes a source of fleets") {
  const EnvironmentOptions options = Options(0);
  const auto source = MakeSource(ConfigOf(options));
  REQUIRE(source.ok());
  REQUIRE((*source)->spec().observation_size() == FleetEnvironment::kObservationSize);
  REQUIRE((*source)->pairs().front().goal == "1 power_on x3");
  boost::asio::io_context context;
  auto environments = (*source)->Create(context.get_executor(), 0, 2);
  REQUIRE(environments.size() == 2);
  std::vector<std::string> texts;
  for (auto& environment : environments) {
    environment->Reset({.environment_id = texts.size(), .pair = 0}, [&](auto transition) {
      REQUIRE(transition.ok());
      texts.push_back(*transition->observation.contents[0].text);
    });
  }
  REQUIRE(texts.size() == 2);
  REQUIRE(texts[0] != texts[1]);
}

}  // namespace shoal::actor
