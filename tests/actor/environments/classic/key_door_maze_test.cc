// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/classic/key_door_maze.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "platform/runtime/random.h"

namespace shoal::actor {
namespace {

// A model of the maze of its own: where the agent is, as row and column, and whether it has the
// key.
struct Place {
  int row = 0;
  int column = 0;
  bool key = false;
  auto operator<=>(const Place&) const = default;

  char cell() const {
    return KeyDoorMaze::kMap[static_cast<std::size_t>(row * KeyDoorMaze::kSize + column)];
  }
};

Place Start() {
  for (Place place;; place.column < 10 ? ++place.column : (place.column = 0, ++place.row)) {
    if (place.cell() == 'S') return place;
  }
}

Place Moved(const Place& place, std::int64_t action) {
  Place next = place;
  if (action == KeyDoorMaze::kUp) --next.row;
  if (action == KeyDoorMaze::kDown) ++next.row;
  if (action == KeyDoorMaze::kLeft) --next.column;
  if (action == KeyDoorMaze::kRight) ++next.column;
  if (next.cell() == '#' || (next.cell() == 'D' && !place.key)) return place;
  next.key = place.key || next.cell() == 'K';
  return next;
}

std::vector<std::int64_t> ShortestWay() {
  std::map<Place, std::vector<std::int64_t>> ways = {{Start(), {}}};
  std::deque<Place> open = {Start()};
  while (open.front().cell() != 'G') {
    const Place place = open.front();
    open.pop_front();
    for (std::int64_t action = 0; action < 4; ++action) {
      const auto [way, added] = ways.emplace(Moved(place, action), ways[place]);
      if (!added) continue;
      way->second.push_back(action);
      open.push_back(way->first);
    }
  }
  return ways[open.front()];
}

// Returns the probability that random actions reach the goal within `steps`, exactly.
double SuccessOfChance(int steps) {
  std::map<Place, double> at = {{Start(), 1.0}};
  double success = 0;
  for (int step = 0; step < steps; ++step) {
    std::map<Place, double> next;
    for (const auto& [place, probability] : at) {
      for (std::int64_t action = 0; action < 4; ++action) {
        const Place moved = Moved(place, action);
        (moved.cell() == 'G' ? success : next[moved]) += probability / 4;
      }
    }
    at = std::move(next);
  }
  return success;
}

void RequireSeen(const KeyDoorMaze& maze, const Place& place) {
  std::vector<float> seen(static_cast<std::size_t>(maze.spec().observation_shape[0]));
  maze.Observe(seen);
  std::vector<float> expected(seen.size());
  expected[static_cast<std::size_t>(place.row * KeyDoorMaze::kSize + place.column)] = 1;
  expected.back() = place.key ? 1.0F : 0.0F;
  REQUIRE(seen == expected);
}

TEST_CASE("A random policy solves the maze less than once in 10,000 episodes") {
  const int limit = KeyDoorMaze().spec().step_limit;
  const double success = SuccessOfChance(limit);
  REQUIRE(success == Approx(3.2902e-6).epsilon(1e-4));
  REQUIRE(success < 1e-4);
}

TEST_CASE("The shortest way fetches the key, opens the door and earns 1 at its end alone") {
  const std::vector<std::int64_t> way = ShortestWay();
  REQUIRE(way.size() == 34);
  KeyDoorMaze maze;
  maze.Reset({});
  for (std::size_t i = 0; i < way.size(); ++i) {
    const SimulationStep step = maze.Step(way[i]);
    const bool last = i + 1 == way.size();
    REQUIRE(step.terminated == last);
    REQUIRE(step.reward == (last ? 1.0F : 0.0F));
  }
}

TEST_CASE("The maze moves as a model of it does under random actions") {
  KeyDoorMaze maze;
  runtime::Random random(11);
  bool key = false;
  for (int episode = 0; episode < 20; ++episode) {
    maze.Reset({});
    Place place = Start();
    RequireSeen(maze, place);
    for (int step = 0; step < 1000 && place.cell() != 'G'; ++step) {
      const auto action = static_cast<std::int64_t>(random.Below(4));
      place = Moved(place, action);
      REQUIRE(maze.Step(action).terminated == (place.cell() == 'G'));
      RequireSeen(maze, place);
      key = key || place.key;
    }
  }
  REQUIRE(key);
}

TEST_CASE("The door stays shut without the key") {
  Place before_door = Start();
  while (before_door.cell() != 'D') {
    before_door.column < 10 ? ++before_door.column : (before_door.column = 0, ++before_door.row);
  }
  --before_door.column;
  REQUIRE(Moved(before_door, KeyDoorMaze::kRight) == before_door);
  KeyDoorMaze maze;
  maze.Reset({});
  std::vector<std::int64_t> way(4, KeyDoorMaze::kDown);
  way.insert(way.begin() + 2, KeyDoorMaze::kRight);
  way.insert(way.end(), {KeyDoorMaze::kDown, KeyDoorMaze::kDown});
  way.insert(way.end(), 4, KeyDoorMaze::kRight);
  for (const std::int64_t action : way) maze.Step(action);
  RequireSeen(maze, before_door);
}

}  // namespace
}  // namespace shoal::actor
