// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/classic/catch_game.h"

#include <array>
#include <catch2/catch.hpp>
#include <functional>
#include <set>

namespace shoal::actor {
namespace {

constexpr std::size_t kColumns = CatchGame::kColumns;
constexpr std::size_t kCells = CatchGame::kRows * kColumns;
using Board = std::array<float, kCells>;

Board Seen(const CatchGame& game) {
  Board board = {};
  game.Observe(board);
  return board;
}

// Returns the ball's column, or the paddle's where the ball covers it.
std::size_t BallColumn(const Board& board) {
  return static_cast<std::size_t>(std::find(board.begin(), board.end(), 1.0F) - board.begin()) %
         kColumns;
}

std::size_t Paddle(const Board& board) {
  const auto bottom = board.end() - kColumns;
  return static_cast<std::size_t>(std::find(bottom, board.end(), 1.0F) - bottom);
}

// Plays one episode and returns its return. It lasts nine steps, of which only the last earns.
float Play(CatchGame& game, const std::function<std::int64_t(const Board&)>& policy) {
  for (int step = 1;; ++step) {
    const SimulationStep taken = game.Step(policy(Seen(game)));
    REQUIRE(taken.terminated == (step == 9));
    if (taken.terminated) return taken.reward;
    REQUIRE(taken.reward == 0);
  }
}

TEST_CASE("A player that follows the ball catches it from every column") {
  CatchGame game;
  std::set<std::size_t> starts;
  for (std::uint64_t episode = 0; episode < 100; ++episode) {
    game.Reset({.seed = 1, .environment = 0, .episode = episode});
    starts.insert(BallColumn(Seen(game)));
    const auto follow = [](const Board& board) -> std::int64_t {
      const std::size_t ball = BallColumn(board);
      const std::size_t paddle = Paddle(board);
      return ball < paddle ? 0 : ball == paddle ? 1 : 2;
    };
    REQUIRE(Play(game, follow) == 1);
  }
  REQUIRE(starts.size() == kColumns);
}

TEST_CASE("A paddle that stands still catches only what falls on the middle") {
  CatchGame game;
  for (std::uint64_t episode = 0; episode < 100; ++episode) {
    game.Reset({.seed = 1, .environment = 0, .episode = episode});
    const bool middle = BallColumn(Seen(game)) == 2;
    REQUIRE(Play(game, [](const Board&) { return 1; }) == (middle ? 1.0F : -1.0F));
  }
}

TEST_CASE("The board shows one ball that falls row by row and a paddle that walls hold") {
  CatchGame game;
  game.Reset({.seed = 1, .environment = 0, .episode = 3});
  const std::size_t column = BallColumn(Seen(game));
  for (std::size_t row = 1; row < 9; ++row) {
    game.Step(0);
    const Board board = Seen(game);
    REQUIRE(std::count(board.begin(), board.end(), 1.0F) == 2);
    REQUIRE(std::count(board.begin(), board.end(), 0.0F) == kCells - 2);
    REQUIRE(board[row * kColumns + column] == 1);
    REQUIRE(Paddle(board) == (row == 1 ? 1 : 0));
  }
}

}  // namespace
}  // namespace shoal::actor
