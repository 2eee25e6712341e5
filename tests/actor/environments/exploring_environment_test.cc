// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/exploring_environment.h"

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "actor/environments/classic/key_door_maze.h"
#include "actor/environments/simulated_environment.h"
#include "platform/runtime/random.h"

namespace shoal::actor {
namespace {

// A row of cells. In each, one action leads on and the others back to the start; the end earns 1.
class Lock final : public Simulation {
 public:
  static constexpr std::int64_t kCells = 12;
  static constexpr std::int64_t kActions = 4;

  const SimulationSpec& spec() const override { return spec_; }
  void Reset(const EpisodeDraws&) override { cell_ = 0; }
  SimulationStep Step(std::int64_t action) override {
    cell_ = action == (cell_ * 7 + 3) % kActions ? cell_ + 1 : 0;
    const bool end = cell_ == kCells - 1;
    return {.reward = end ? 1.0F : 0.0F, .terminated = end};
  }
  void Observe(std::span<float> out) const override {
    std::fill(out.begin(), out.end(), 0.0F);
    out[static_cast<std::size_t>(cell_)] = 1.0F;
  }

 private:
  const SimulationSpec spec_ = {.name = "lock",
                                .observation_shape = {kCells},
                                .actions = kActions,
                                .step_limit = 20,
                                .success_return = 1};
  std::int64_t cell_ = 0;
};

// A ring of cells on which the agent goes back, stays or goes on. Beside the cell it sees numbers
// that are drawn anew in each step, whatever it does.
class NoisyRing final : public Simulation {
 public:
  static constexpr std::int64_t kCells = 8;
  static constexpr std::int64_t kNoise = 4;
  enum Action : std::int64_t { kStay = 1, kGoOn = 2 };
  static constexpr std::int64_t kActions = 3;

  const SimulationSpec& spec() const override { return spec_; }
  void Reset(const EpisodeDraws&) override {}
  SimulationStep Step(std::int64_t action) override {
    cell_ = (cell_ + kCells + action - kStay) % kCells;
    return {};
  }
  void Observe(std::span<float> out) const override {
    std::fill(out.begin(), out.end(), 0.0F);
    out[static_cast<std::size_t>(cell_)] = 1.0F;
    for (float& number : out.last(kNoise)) number = static_cast<float>(random_.Normal());
  }

 private:
  const SimulationSpec spec_ = {.name = "noisy_ring",
                                .observation_shape = {kCells + kNoise},
                                .actions = kActions,
                                .step_limit = 12};
  std::int64_t cell_ = 0;
  mutable runtime::Random random_{17};
};

template <typename Task>
std::unique_ptr<ExploringEnvironment> MakeExploring(const ExplorationOptions& options,
                                                    std::uint64_t seed = 1) {
  const EnvironmentSpec spec = SimulatedEnvironment::SpecOf(Task().spec());
  REQUIRE(ExploringEnvironment::SpecOf(spec, options).ok());
  return std::make_unique<ExploringEnvironment>(
      std::make_unique<SimulatedEnvironment>(std::make_unique<Task>(), seed), spec, options, seed,
      ExploringEnvironment::Projection(spec, options, seed));
}

Transition Awaited(const std::function<void(Environment::Done)>& call) {
  std::optional<absl::StatusOr<Transition>> answer;
  call([&](absl::StatusOr<Transition> transition) { answer = std::move(transition); });
  REQUIRE(answer.has_value());
  REQUIRE(answer->ok());
  return **answer;
}

Transition BeginIn(Environment& environment, const EpisodeStart& start) {
  return Awaited([&](auto done) { environment.Reset(start, done); });
}

Transition ActIn(Environment& environment, std::int64_t action) {
  return Awaited([&](auto done) { environment.Step(action, done); });
}

TEST_CASE(
    "Episodes draw the family's policies alike, and observations end with the one that plays") {
  const auto environment = MakeExploring<KeyDoorMaze>({.members = 4});
  std::map<std::size_t, int> episodes;
  for (std::uint64_t episode = 0; episode < 400; ++episode) {
    const auto start = BeginIn(*environment, {.environment_id = 2, .episode = episode});
    REQUIRE(start.observation.numeric.size() == 126);
    const std::vector<float> tail(start.observation.numeric.end() - 4,
                                  start.observation.numeric.end());
    std::vector<float> expected(4);
    expected[environment->member()] = 1;
    REQUIRE(tail == expected);
    REQUIRE(start.reward == 0);
    ++episodes[environment->member()];
  }
  REQUIRE(episodes.size() == 4);
  for (const auto& [member, count] : episodes) REQUIRE(count > 70);
}

TEST_CASE("Policies of episodes are a function of seed, environment and episode") {
  const auto members = [](std::uint64_t seed, std::uint64_t id) {
    const auto environment = MakeExploring<Lock>({.members = 8}, seed);
    std::vector<std::size_t> drawn;
    for (std::uint64_t episode = 0; episode < 20; ++episode) {
      BeginIn(*environment, {.environment_id = id, .episode = episode});
      drawn.push_back(environment->member());
    }
    return drawn;
  };
  REQUIRE(members(1, 3) == members(1, 3));
  REQUIRE(members(1, 3) != members(2, 3));
  REQUIRE(members(1, 3) != members(1, 4));
}

TEST_CASE("The meta-controller plays the policy whose episodes the task has rewarded") {
  // The first action leads on where policy 2 plays; the others go back to the start.
  const auto environment =
      MakeExploring<Lock>({.members = 3, .bandit_window = 12, .bandit_epsilon = 0});
  std::map<std::size_t, int> episodes;
  const auto play = [&](std::uint64_t episode, bool evaluation) {
    BeginIn(*environment, {.environment_id = 5, .episode = episode, .evaluation = evaluation});
    const bool opens = environment->member() == 2 || evaluation;
    Transition last;
    for (std::int64_t cell = 0; last.end == End::kNone; ++cell) {
      last = ActIn(*environment, opens ? (cell * 7 + 3) % Lock::kActions : 0);
    }
    return environment->member();
  };
  for (std::uint64_t episode = 0; episode < 40; ++episode) {
    ++episodes[play(episode, false)];
    // What evaluations reach is no reward of the policy that plays them.
    REQUIRE(play(episode, true) == 0);
  }
  REQUIRE(episodes[0] + episodes[1] + episodes[2] == 40);
  REQUIRE(episodes[2] > 25);
}

TEST_CASE("Intrinsic rewards are no returns of the meta-controller") {
  // No policy earns anything from the task, so all bounds differ by their counts alone.
  const auto environment = MakeExploring<KeyDoorMaze>(
      {.members = 3, .bandit_window = 30, .bandit_epsilon = 0, .greatest_beta = 100});
  std::map<std::size_t, int> episodes;
  for (std::uint64_t episode = 0; episode < 30; ++episode) {
    BeginIn(*environment, {.environment_id = 2, .episode = episode});
    Transition last;
    for (std::int64_t step = 0; last.end == End::kNone; ++step) {
      last = ActIn(*environment, step % 4);
    }
    ++episodes[environment->member()];
  }
  REQUIRE(episodes == std::map<std::size_t, int>{{0, 10}, {1, 10}, {2, 10}});
}

TEST_CASE("Split rewards are those of the task, and observations tell the rest of them") {
  const ExplorationOptions mixed = {.members = 4, .greatest_beta = 0.5};
  ExplorationOptions split = mixed;
  split.split_rewards = true;
  const auto environment = MakeExploring<KeyDoorMaze>(mixed);
  const auto other = MakeExploring<KeyDoorMaze>(split);
  std::set<std::size_t> seen;
  for (std::uint64_t episode = 0; episode < 30; ++episode) {
    const EpisodeStart start = {.environment_id = 2, .episode = episode};
    Transition sum = BeginIn(*environment, start);
    Transition apart = BeginIn(*other, start);
    REQUIRE(other->member() == environment->member());
    REQUIRE(apart.observation.numeric[1] == 0);
    seen.insert(other->member());
    for (const std::int64_t action : {KeyDoorMaze::kDown, KeyDoorMaze::kLeft}) {
      sum = ActIn(*environment, action);
      apart = ActIn(*other, action);
      const std::vector<float>& numbers = apart.observation.numeric;
      REQUIRE(apart.reward == 0);
      REQUIRE(numbers[1] > 0);
      REQUIRE(numbers[0] * numbers[1] == Approx(sum.reward));
      REQUIRE(std::vector<float>(numbers.begin() + 2, numbers.end()) == sum.observation.numeric);
    }
  }
  REQUIRE(seen.size() == 4);
  BeginIn(*other, {.environment_id = 2, .episode = 1, .evaluation = true});
  const Transition evaluated = ActIn(*other, KeyDoorMaze::kDown);
  REQUIRE(evaluated.observation.numeric[0] == 0);
  REQUIRE(evaluated.observation.numeric[1] == 0);
  REQUIRE(ExploringEnvironment::SpecOf(SimulatedEnvironment::SpecOf(Lock().spec()), split)
              ->observation_size() == 2 + Lock::kCells + 4);
}

TEST_CASE("The policy that exploits earns the task's rewards, and others what is new as well") {
  const auto environment = MakeExploring<KeyDoorMaze>({.members = 2, .greatest_beta = 0.5});
  std::set<std::size_t> seen;
  for (std::uint64_t episode = 0; episode < 20; ++episode) {
    BeginIn(*environment, {.environment_id = 2, .episode = episode});
    seen.insert(environment->member());
    const float first_visit = ActIn(*environment, KeyDoorMaze::kDown).reward;
    const float hit_a_wall = ActIn(*environment, KeyDoorMaze::kLeft).reward;
    if (environment->member() == 0) {
      REQUIRE(first_visit == 0);
      REQUIRE(hit_a_wall == 0);
    } else {
      REQUIRE(hit_a_wall > 0);
      REQUIRE(first_visit > 10 * hit_a_wall);
    }
  }
  REQUIRE(seen.size() == 2);
}

TEST_CASE("Evaluations play the policy that exploits and reward the task alone") {
  const auto environment = MakeExploring<KeyDoorMaze>({.members = 3, .greatest_beta = 0.5});
  for (std::uint64_t episode = 0; episode < 20; ++episode) {
    BeginIn(
        *environment,
        {.environment_id = kEvaluationEnvironments | 2, .episode = episode, .evaluation = true});
    REQUIRE(environment->member() == 0);
    const Transition down = ActIn(*environment, KeyDoorMaze::kDown);
    REQUIRE(down.reward == 0);
    REQUIRE(down.observation.numeric[122] == 1);
  }
}

TEST_CASE("Life-long novelty fades with the visits of a life, down to that of the episode") {
  const ExplorationOptions options = {.members = 2, .greatest_beta = 1};
  ExplorationOptions episodic = options;
  episodic.life_long_limit = 1;
  const auto environment = MakeExploring<KeyDoorMaze>(options);
  const auto other = MakeExploring<KeyDoorMaze>(episodic);
  for (std::uint64_t episode = 0; episode < 300; ++episode) {
    const EpisodeStart start = {.environment_id = 2, .episode = episode};
    BeginIn(*environment, start);
    BeginIn(*other, start);
    // What every episode sees: the first cells on the way down.
    for (int step = 0; step < 3; ++step) {
      ActIn(*environment, KeyDoorMaze::kDown);
      ActIn(*other, KeyDoorMaze::kDown);
    }
    if (environment->member() == 0 || episode < 200) continue;
    // What this life has never seen is on the right of them.
    const float here = ActIn(*environment, KeyDoorMaze::kUp).reward;
    REQUIRE(here == ActIn(*other, KeyDoorMaze::kUp).reward);
    const float there = ActIn(*environment, KeyDoorMaze::kRight).reward;
    REQUIRE(there > 1.5F * ActIn(*other, KeyDoorMaze::kRight).reward);
    return;
  }
  FAIL("no episode of the policy that explores");
}

TEST_CASE("Random projections tell first visits from others as observations do") {
  const auto environment =
      MakeExploring<KeyDoorMaze>({.members = 2, .greatest_beta = 1, .embedding = "random"});
  std::uint64_t episode = 0;
  do {
    BeginIn(*environment, {.environment_id = 1, .episode = episode++});
  } while (environment->member() == 0);
  const float first_visit = ActIn(*environment, KeyDoorMaze::kDown).reward;
  const float hit_a_wall = ActIn(*environment, KeyDoorMaze::kLeft).reward;
  REQUIRE(first_visit > 10 * hit_a_wall);
}

// Returns how many times as new another cell of the ring is as the one where the agent has stayed.
double NewnessOfAnotherCell(const std::string& embedding) {
  const auto environment = MakeExploring<NoisyRing>({.members = 2,
                                                     .greatest_beta = 1,
                                                     .embedding = embedding,
                                                     .embedding_size = 8,
                                                     .life_long_limit = 1});
  runtime::Random random(3);
  std::array<double, NoisyRing::kActions> reward = {};
  for (std::uint64_t episode = 0; episode < 1500; ++episode) {
    BeginIn(*environment, {.environment_id = 1, .episode = episode});
    const bool judged = episode >= 1000 && environment->member() == 1;
    const std::int64_t last = episode % 2 == 0 ? NoisyRing::kStay : NoisyRing::kGoOn;
    for (int step = 1; step <= 12; ++step) {
      std::int64_t action = static_cast<std::int64_t>(random.Below(NoisyRing::kActions));
      if (judged) action = step < 12 ? NoisyRing::kStay : last;
      const Transition next = ActIn(*environment, action);
      if (judged && step == 12) reward[static_cast<std::size_t>(action)] += next.reward;
    }
  }
  return reward[NoisyRing::kGoOn] / reward[NoisyRing::kStay];
}

TEST_CASE("Noise is new to observations and random projections, and not to learned embeddings") {
  REQUIRE(NewnessOfAnotherCell("observation") < 1.6);
  REQUIRE(NewnessOfAnotherCell("random") < 1.6);
  REQUIRE(NewnessOfAnotherCell("learned") > 4);
}

// The rewards of twenty episodes of random actions in the maze.
std::vector<float> RewardsInMaze(const std::string& embedding, std::uint64_t seed) {
  const auto environment =
      MakeExploring<KeyDoorMaze>({.members = 2, .greatest_beta = 1, .embedding = embedding}, seed);
  runtime::Random random(5);
  std::vector<float> rewards;
  for (std::uint64_t episode = 0; episode < 20; ++episode) {
    End end = BeginIn(*environment, {.environment_id = 1, .episode = episode}).end;
    while (end == End::kNone) {
      const Transition next = ActIn(*environment, static_cast<std::int64_t>(random.Below(4)));
      end = next.end;
      rewards.push_back(next.reward);
    }
  }
  return rewards;
}

TEST_CASE("Learned embeddings reward the same history alike") {
  REQUIRE(RewardsInMaze("learned", 1) == RewardsInMaze("learned", 1));
  REQUIRE(RewardsInMaze("learned", 1) != RewardsInMaze("learned", 2));
}

TEST_CASE("Observations and random projections reward a history as they did before") {
  const auto check = [](const std::string& embedding, double sum, double last) {
    const std::vector<float> rewards = RewardsInMaze(embedding, 1);
    REQUIRE(std::accumulate(rewards.begin(), rewards.end(), 0.0) == Approx(sum));
    REQUIRE(rewards.back() == Approx(last));
  };
  check("observation", 10834.679652035, 0.798873663);
  check("random", 10902.035617918, 0.798878074);
}

TEST_CASE("Embeddings other than the observations have at least one number") {
  const EnvironmentSpec spec = SimulatedEnvironment::SpecOf(Lock().spec());
  const auto made = [&spec](const std::string& embedding) {
    return ExploringEnvironment::SpecOf(
        spec, {.members = 2, .embedding = embedding, .embedding_size = 0});
  };
  REQUIRE(made("observation").ok());
  REQUIRE(absl::IsInvalidArgument(made("random").status()));
  REQUIRE(absl::IsInvalidArgument(made("learned").status()));
}

TEST_CASE("Embeddings are learned of discrete actions alone") {
  EnvironmentSpec spec = SimulatedEnvironment::SpecOf(Lock().spec());
  REQUIRE(ExploringEnvironment::SpecOf(spec, {.members = 2, .embedding = "learned"}).ok());
  spec.actions = 0;
  spec.action_low = {-1};
  spec.action_high = {1};
  REQUIRE(ExploringEnvironment::SpecOf(spec, {.members = 2, .embedding = "random"}).ok());
  const auto refused = ExploringEnvironment::SpecOf(spec, {.members = 2, .embedding = "learned"});
  REQUIRE(absl::IsInvalidArgument(refused.status()));
  REQUIRE(refused.status().message().find("environment.exploration.embedding") !=
          std::string::npos);
}

TEST_CASE("Only observations that are one vector of floats can be explored") {
  const EnvironmentSpec vector = SimulatedEnvironment::SpecOf(Lock().spec());
  REQUIRE(ExploringEnvironment::SpecOf(vector, {.members = 5})->observation_size() ==
          Lock::kCells + 5);
  EnvironmentSpec texts = vector;
  texts.content_fields = {"goal"};
  EnvironmentSpec frames = vector;
  frames.observation_dtype = runtime::DType::kUInt8;
  EnvironmentSpec square = vector;
  square.observation_shape = {3, 4};
  for (const EnvironmentSpec& spec : {texts, frames, square}) {
    const auto refused = ExploringEnvironment::SpecOf(spec, {.members = 2});
    REQUIRE(absl::IsInvalidArgument(refused.status()));
  }
  REQUIRE(absl::IsInvalidArgument(ExploringEnvironment::SpecOf(vector, {}).status()));
  REQUIRE(ExploringEnvironment::SpecOf(vector, {.members = 5, .bandit_window = 5}).ok());
  const auto narrow = ExploringEnvironment::SpecOf(vector, {.members = 5, .bandit_window = 4});
  REQUIRE(absl::IsInvalidArgument(narrow.status()));
}

TEST_CASE("A source makes exploring environments where the family has policies") {
  EnvironmentOptions options;
  options.kind = "maze";
  options.exploration.members = 2;
  const runtime::ClusterOptions cluster;
  boost::asio::io_context context;
  const auto source = MakeSource({.environment = options, .cluster = cluster});
  REQUIRE(source.ok());
  REQUIRE((*source)->spec().observation_size() == 124);
  const auto environments = (*source)->Create(context.get_executor(), 0, 2);
  REQUIRE(BeginIn(*environments[1], {}).observation.numeric.size() == 124);
  options.kind = "pixels";
  REQUIRE(
      absl::IsInvalidArgument(MakeSource({.environment = options, .cluster = cluster}).status()));
  options.kind = "placement";
  REQUIRE(
      absl::IsInvalidArgument(MakeSource({.environment = options, .cluster = cluster}).status()));
}

// Q-learning over a table with an entry for each policy, cell and action, which acts greedily but
// in one step of ten. Returns how many of the last 1,000 of 3,000 episodes reached the end: chance
// reaches it in two of a million.
int OpenedLocks(std::int64_t members) {
  const auto environment = MakeExploring<Lock>({.members = members, .greatest_beta = 0.01});
  const auto policies = static_cast<std::size_t>(members);
  std::vector<std::array<std::array<double, Lock::kActions>, Lock::kCells>> table(policies);
  runtime::Random random(11);
  int opened = 0;
  const auto cell_of = [](const Transition& transition) {
    const auto cells = transition.observation.numeric.begin();
    return static_cast<std::size_t>(std::max_element(cells, cells + Lock::kCells) - cells);
  };
  const auto greedy = [](const auto& values) {
    return static_cast<std::size_t>(std::max_element(values.begin(), values.end()) -
                                    values.begin());
  };
  for (std::uint64_t episode = 0; episode < 3000; ++episode) {
    std::size_t cell = cell_of(BeginIn(*environment, {.environment_id = 1, .episode = episode}));
    End end = End::kNone;
    while (end == End::kNone) {
      auto& values = table[environment->member()][cell];
      auto action = static_cast<std::size_t>(random.Below(Lock::kActions));
      const bool explores = random.Uniform() < 0.1;
      if (!explores && values[action] < values[greedy(values)]) action = greedy(values);
      const Transition next = ActIn(*environment, static_cast<std::int64_t>(action));
      end = next.end;
      const std::size_t there = cell_of(next);
      const auto& after = table[environment->member()][there];
      const double bootstrap = end == End::kTerminated ? 0 : 0.9 * after[greedy(after)];
      values[action] += 0.2 * (static_cast<double>(next.reward) + bootstrap - values[action]);
      cell = there;
    }
    if (episode >= 2000 && environment->facts().success) ++opened;
  }
  return opened;
}

TEST_CASE("A family opens a lock that epsilon-greedy actions do not open") {
  REQUIRE(OpenedLocks(1) == 0);
  REQUIRE(OpenedLocks(2) > 100);
}

}  // namespace
}  // namespace shoal::actor
