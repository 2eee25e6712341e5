// SPDX-License-Identifier: Apache-2.0
#include "rl/collectives/node_group.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/doubles/manual_clock.h"

namespace shoal::collectives {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using NodeId = NodeGroup::NodeId;

// A group and its nodes, each of which is what it was told last.
class ToldNodes {
 public:
  explicit ToldNodes(const NodeGroupOptions& options) : group(options, clock) {}

  absl::Status Join(NodeId id, std::int64_t ranks = 1) {
    const absl::Status joined = group.Join(
        id,
        {.name = "n" + std::to_string(id), .ranks = ranks, .port = static_cast<std::uint16_t>(id)},
        "10.0.0." + std::to_string(id));
    Look();
    return joined;
  }
  void Leave(NodeId id, bool ended = false) {
    group.Leave(id, {.ended = ended});
    Look();
  }
  void Gone(NodeId id) {
    group.Gone(id);
    Look();
  }
  void Ended(NodeId id, int exit_code = 0) {
    group.Ended(id, {.epoch = epoch(id), .exit_code = exit_code, .port = 99});
    Look();
  }
  void Wait(runtime::Duration time) {
    clock.Advance(time);
    Look();
  }
  void Look() {
    group.Look();
    for (auto& [id, message] : group.TakeOrders()) told[id].push_back(message);
  }

  // What a node was told last, if it was that.
  template <typename Message>
  std::optional<Message> Last(NodeId id) {
    if (told[id].empty()) return std::nullopt;
    const auto* const message = std::get_if<Message>(&told[id].back());
    return message == nullptr ? std::nullopt : std::optional(*message);
  }
  std::uint64_t epoch(NodeId id) {
    std::uint64_t epoch = 0;
    for (const NodeMessage& message : told[id]) {
      if (const auto* const start = std::get_if<StartRanks>(&message)) epoch = start->epoch;
    }
    return epoch;
  }
  std::size_t Starts(NodeId id) {
    return static_cast<std::size_t>(std::count_if(
        told[id].begin(), told[id].end(),
        [](const NodeMessage& message) { return std::holds_alternative<StartRanks>(message); }));
  }

  doubles::ManualClock clock;
  NodeGroup group;
  std::map<NodeId, std::vector<NodeMessage>> told;
};

}  // namespace

TEST_CASE("a group starts at once with all nodes, numbered in the order in which they came") {
  ToldNodes nodes({.min_nodes = 2, .max_nodes = 3});
  for (const NodeId id : {3, 1, 2}) REQUIRE(nodes.Join(id, static_cast<std::int64_t>(id)).ok());
  const StartRanks first = nodes.Last<StartRanks>(3).value();
  REQUIRE(first.first_rank == 0);
  REQUIRE(nodes.Last<StartRanks>(1).value().first_rank == 3);
  REQUIRE(nodes.Last<StartRanks>(2).value().first_rank == 4);
  for (const NodeId id : {1, 2, 3}) {
    const StartRanks start = nodes.Last<StartRanks>(id).value();
    REQUIRE(start.world_size == 6);
    REQUIRE(start.epoch == first.epoch);
    REQUIRE(start.address == "10.0.0.3");
    REQUIRE(start.port == 3);
    REQUIRE(start.cause == ChangeCause::kFormed);
  }
}

TEST_CASE("a group of fewer nodes waits for others a while, and for the least number for ever") {
  ToldNodes nodes({.min_nodes = 2, .max_nodes = 3, .settle = seconds(2)});
  REQUIRE(nodes.Join(1).ok());
  nodes.Wait(std::chrono::hours(1));
  REQUIRE(nodes.Starts(1) == 0);
  REQUIRE(nodes.Join(2).ok());
  nodes.Wait(milliseconds(1999));
  REQUIRE(nodes.Starts(1) == 0);
  REQUIRE(nodes.group.NextLook().value() - nodes.clock.Now() == milliseconds(1));
  nodes.Wait(milliseconds(1));
  REQUIRE(nodes.Last<StartRanks>(2).value().world_size == 2);
}

TEST_CASE("a node that comes later gets its place once all ranks have stopped in order") {
  ToldNodes nodes({.min_nodes = 1, .max_nodes = 2});
  REQUIRE(nodes.Join(1).ok());
  nodes.Wait(seconds(2));
  REQUIRE(nodes.Join(2).ok());
  REQUIRE(nodes.Starts(2) == 0);
  nodes.Wait(seconds(2));
  const StopRanks stop = nodes.Last<StopRanks>(1).value();
  REQUIRE(stop.orderly);
  REQUIRE(stop.cause == ChangeCause::kJoined);
  REQUIRE(stop.epoch == nodes.epoch(1));
  nodes.Wait(seconds(30));
  REQUIRE(nodes.Starts(2) == 0);
  nodes.Ended(1);
  REQUIRE(nodes.Last<StartRanks>(1).value().epoch > stop.epoch);
  REQUIRE(nodes.Last<StartRanks>(1).value().port == 99);
  REQUIRE(nodes.Last<StartRanks>(2).value().first_rank == 1);
}

TEST_CASE("when a node is lost the others stop at once and go on alone") {
  ToldNodes nodes({.min_nodes = 1, .max_nodes = 2, .settle = seconds(2)});
  REQUIRE(nodes.Join(1).ok());
  REQUIRE(nodes.Join(2).ok());
  SECTION("their supervisor hears of it first") {
    nodes.Gone(1);
    REQUIRE_FALSE(nodes.Last<StopRanks>(2).value().orderly);
    nodes.Ended(2, 1);
  }
  SECTION("their ranks fail first, which is the loss's doing") {
    nodes.Ended(2, 1);
    nodes.Gone(1);
  }
  SECTION("while a stop in order goes on") {
    nodes.Leave(1);
    REQUIRE(nodes.Last<StopRanks>(2).value().orderly);
    REQUIRE(nodes.Join(3).ok());
    nodes.Gone(1);
    nodes.Gone(3);
    nodes.Ended(2, 1);
  }
  nodes.Wait(seconds(2));
  const StartRanks start = nodes.Last<StartRanks>(2).value();
  REQUIRE(start.first_rank == 0);
  REQUIRE(start.world_size == 1);
  REQUIRE(start.address == "10.0.0.2");
  REQUIRE(start.cause >= ChangeCause::kLeft);
}

TEST_CASE("a node that is lost during a stop in order makes the rest of it quick") {
  ToldNodes nodes({.min_nodes = 1, .max_nodes = 3});
  for (const NodeId id : {1, 2, 3}) REQUIRE(nodes.Join(id).ok());
  nodes.Leave(1);
  REQUIRE(nodes.Last<StopRanks>(3).value() ==
          StopRanks{nodes.epoch(3), ChangeCause::kLeft, /*orderly=*/true});
  nodes.Gone(2);
  REQUIRE(nodes.Last<StopRanks>(3).value() ==
          StopRanks{nodes.epoch(3), ChangeCause::kLost, /*orderly=*/false});
}

TEST_CASE("a node whose ranks do not end in time is given up, and the others go on") {
  ToldNodes nodes({.min_nodes = 1,
                   .max_nodes = 4,
                   .settle = seconds(2),
                   .orderly_limit = seconds(70),
                   .stop_limit = seconds(15)});
  for (const NodeId id : {1, 2, 3, 4}) REQUIRE(nodes.Join(id).ok());
  runtime::Duration limit = seconds(15);
  SECTION("after a stop at once") { nodes.Gone(4); }
  SECTION("after a stop in order") {
    limit = seconds(70);
    nodes.Leave(4);
  }
  SECTION("after a stop in order that became one at once") {
    nodes.Leave(3);
    nodes.Wait(seconds(30));
    nodes.Gone(4);
  }
  SECTION("after a stop in order that became one at once when it was nearly over") {
    limit = seconds(5);
    nodes.Leave(3);
    nodes.Wait(seconds(65));
    nodes.Gone(4);
  }
  for (const NodeId id : {2, 3, 4}) nodes.Ended(id);
  nodes.Wait(limit - milliseconds(1));
  REQUIRE(nodes.group.Overdue().empty());
  REQUIRE(nodes.group.NextLook().value() - nodes.clock.Now() == milliseconds(1));
  nodes.Wait(milliseconds(1));
  REQUIRE(nodes.group.Overdue() == std::vector<NodeId>{1});
  REQUIRE(nodes.Starts(2) == 1);
  nodes.Gone(1);
  nodes.Wait(seconds(2));
  REQUIRE(nodes.Last<StartRanks>(2).value().first_rank == 0);
  nodes.Wait(std::chrono::hours(1));
  REQUIRE(nodes.group.Overdue().empty());
}

TEST_CASE("a node that is asked to end leaves after a stop in order of all, itself included") {
  ToldNodes nodes({.min_nodes = 1, .max_nodes = 2});
  REQUIRE(nodes.Join(1).ok());
  REQUIRE(nodes.Join(2).ok());
  nodes.Leave(1);
  for (const NodeId id : {1, 2}) {
    REQUIRE(nodes.Last<StopRanks>(id).value().orderly);
    REQUIRE(nodes.Last<StopRanks>(id).value().cause == ChangeCause::kLeft);
  }
  nodes.Ended(2);
  REQUIRE_FALSE(nodes.group.finished());
  nodes.Wait(seconds(10));
  REQUIRE(nodes.Starts(2) == 1);
  nodes.Gone(1);
  nodes.Wait(seconds(10));
  REQUIRE(nodes.Last<StartRanks>(2).value().world_size == 1);
}

TEST_CASE("a node that gives up because no restart helps does not end the others") {
  ToldNodes nodes({.min_nodes = 1, .max_nodes = 2});
  REQUIRE(nodes.Join(1).ok());
  REQUIRE(nodes.Join(2).ok());
  nodes.Leave(2, /*ended=*/true);
  REQUIRE_FALSE(nodes.Last<StopRanks>(1).value().orderly);
  nodes.Ended(1, 1);
  nodes.Gone(2);
  nodes.Wait(seconds(10));
  REQUIRE(nodes.Last<StartRanks>(1).value().cause == ChangeCause::kLeft);
}

TEST_CASE("ranks that fail start again after pauses that double, until restarts are used up") {
  ToldNodes nodes({.min_nodes = 1,
                   .max_nodes = 1,
                   .max_restarts = 3,
                   .min_back_off = seconds(1),
                   .max_back_off = seconds(3)});
  REQUIRE(nodes.Join(1).ok());
  nodes.Wait(seconds(10));
  std::size_t starts = 1;
  for (const int pause : {1, 2, 3}) {
    REQUIRE(nodes.Starts(1) == starts);
    nodes.Ended(1, 137);
    nodes.Wait(seconds(pause) - milliseconds(1));
    REQUIRE(nodes.Starts(1) == starts);
    nodes.Wait(milliseconds(1));
    REQUIRE(nodes.Starts(1) == ++starts);
  }
  nodes.Ended(1, 137);
  REQUIRE(nodes.group.finished());
  REQUIRE(nodes.Last<FinishNode>(1).value().exit_code == 137);
}

TEST_CASE("ranks that work for long enough get their restarts back") {
  ToldNodes nodes({.min_nodes = 1,
                   .max_nodes = 1,
                   .max_restarts = 1,
                   .min_back_off = seconds(1),
                   .settled_after = seconds(60)});
  REQUIRE(nodes.Join(1).ok());
  for (int failure = 0; failure < 5; ++failure) {
    nodes.Wait(seconds(60));
    nodes.Ended(1, 1);
    nodes.Wait(seconds(1));
  }
  REQUIRE(nodes.Starts(1) == 6);
}

TEST_CASE("when the ranks of one node are done all nodes are told, and later ones too") {
  ToldNodes nodes({.min_nodes = 1, .max_nodes = 2});
  REQUIRE(nodes.Join(1).ok());
  REQUIRE(nodes.Join(2).ok());
  nodes.Ended(2);
  REQUIRE(nodes.group.finished());
  REQUIRE(nodes.Join(3).ok());
  for (const NodeId id : {1, 2, 3}) REQUIRE(nodes.Last<FinishNode>(id).value().exit_code == 0);
  // Whatever follows, nobody is told anything more, and those who come are told the same.
  const auto told = nodes.told;
  nodes.Gone(1);
  nodes.Ended(2, 1);
  nodes.Leave(3);
  nodes.Wait(std::chrono::hours(1));
  REQUIRE(nodes.told == told);
  REQUIRE(nodes.Join(4).ok());
  REQUIRE(nodes.Last<FinishNode>(4).value().exit_code == 0);
}

TEST_CASE("a node with an epoch after which there would be none is refused, and the others start") {
  ToldNodes nodes({.min_nodes = 1, .max_nodes = 2});
  const absl::Status refused =
      nodes.group.Join(7, {.name = "n7", .epoch = std::uint64_t{1} << 62, .port = 7}, "10.0.0.7");
  REQUIRE(absl::IsInvalidArgument(refused));
  REQUIRE(nodes.Join(1).ok());
  nodes.Wait(seconds(2));
  REQUIRE(nodes.Starts(1) == 1);
}

TEST_CASE("no two nodes have the same name, and a name is free again when its node has gone") {
  ToldNodes nodes({.min_nodes = 1, .max_nodes = 2});
  REQUIRE(nodes.Join(1).ok());
  const auto again = [&] { return nodes.group.Join(7, {.name = "n1", .port = 7}, "10.0.0.7"); };
  REQUIRE(absl::IsAlreadyExists(again()));
  nodes.Gone(7);
  nodes.Wait(seconds(10));
  REQUIRE(nodes.Last<StartRanks>(1).value().world_size == 1);
  nodes.Gone(1);
  REQUIRE(again().ok());
}

TEST_CASE("a node above the greatest number waits, and takes the place of one that goes") {
  ToldNodes nodes({.min_nodes = 2, .max_nodes = 2});
  for (const NodeId id : {1, 2, 3}) REQUIRE(nodes.Join(id).ok());
  nodes.Wait(seconds(60));
  REQUIRE(nodes.Starts(1) == 1);
  REQUIRE(nodes.Starts(3) == 0);
  nodes.Gone(1);
  nodes.Ended(2, 1);
  nodes.Wait(seconds(2));
  REQUIRE(nodes.Last<StartRanks>(2).value().first_rank == 0);
  REQUIRE(nodes.Last<StartRanks>(3).value().first_rank == 1);
  for (NodeId id = 10; id < 10 + kMaxWaitingNodes; ++id) REQUIRE(nodes.Join(id).ok());
  REQUIRE(absl::IsResourceExhausted(nodes.Join(9)));
}

TEST_CASE("an epoch is larger than every one that a node has had, and than the time") {
  ToldNodes nodes({.min_nodes = 1, .max_nodes = 1});
  nodes.clock.Advance(seconds(1000));
  REQUIRE(nodes.group.Join(1, {.name = "a", .epoch = 5'000'000, .port = 1}, "10.0.0.1").ok());
  nodes.Look();
  REQUIRE(nodes.epoch(1) == 5'000'001);
  ToldNodes others({.min_nodes = 1, .max_nodes = 1});
  others.clock.Advance(seconds(1000));
  REQUIRE(others.Join(1).ok());
  REQUIRE(others.epoch(1) == 1'001'000);
}

TEST_CASE("what a node says of other ranks than it has is ignored") {
  ToldNodes nodes({.min_nodes = 1, .max_nodes = 1});
  REQUIRE(nodes.Join(1).ok());
  REQUIRE(nodes.Join(2).ok());
  nodes.group.Ended(1, {.epoch = nodes.epoch(1) - 1, .exit_code = 1, .port = 9});
  nodes.group.Ended(2, {.epoch = nodes.epoch(1), .exit_code = 1, .port = 9});
  nodes.group.Ended(3, {.epoch = nodes.epoch(1), .exit_code = 1, .port = 9});
  nodes.group.Leave(3, {});
  nodes.group.Gone(3);
  nodes.Look();
  REQUIRE(nodes.told[1].size() == 1);
  REQUIRE_FALSE(nodes.group.finished());
}

// The model knows only what each node has seen: when it came, what it was told, and what it did.
TEST_CASE("whatever nodes do, starts are of whole groups of nodes that wait, one after the other") {
  struct Model {
    std::int64_t ranks = 0;
    std::uint64_t came = 0;
    std::uint64_t runs = 0;
    bool leaves = false;
  };
  std::size_t starts = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&random](std::uint64_t limit) { return random() % limit; };
    const auto min_nodes = static_cast<std::int64_t>(1 + below(3));
    const auto max_nodes = min_nodes + static_cast<std::int64_t>(below(3));
    INFO("seed " << seed << ", " << min_nodes << " to " << max_nodes << " nodes");
    ToldNodes nodes({.min_nodes = min_nodes, .max_nodes = max_nodes, .max_restarts = 1'000'000});
    std::map<NodeId, Model> model;
    std::uint64_t newest_epoch = 0;
    NodeId last = 0;

    const auto obey = [&] {
      nodes.told.clear();
      nodes.Look();
      std::map<std::int64_t, NodeId> by_first;
      for (auto& [id, messages] : nodes.told) {
        for (const NodeMessage& message : messages) {
          if (const auto* const start = std::get_if<StartRanks>(&message)) {
            REQUIRE(model.contains(id));
            REQUIRE(model[id].runs == 0);
            REQUIRE_FALSE(model[id].leaves);
            REQUIRE(start->epoch > newest_epoch);
            REQUIRE(by_first.emplace(start->first_rank, id).second);
          } else if (const auto* const stop = std::get_if<StopRanks>(&message)) {
            REQUIRE(model[id].runs == stop->epoch);
          }
        }
      }
      if (by_first.empty()) return;
      ++starts;
      for (const auto& [id, node] : model) REQUIRE(node.runs == 0);
      REQUIRE(by_first.size() >= static_cast<std::size_t>(min_nodes));
      REQUIRE(by_first.size() <= static_cast<std::size_t>(max_nodes));
      std::int64_t next = 0;
      std::uint64_t came = 0;
      const NodeId first = by_first.begin()->second;
      for (const auto& [first_rank, id] : by_first) {
        REQUIRE(first_rank == std::exchange(next, next + model[id].ranks));
        REQUIRE(model[id].came > came);
        came = model[id].came;
      }
      for (const auto& [first_rank, id] : by_first) {
        const StartRanks start = nodes.Last<StartRanks>(id).value();
        REQUIRE(start.world_size == next);
        REQUIRE(start.address == "10.0.0." + std::to_string(first));
        model[id].runs = newest_epoch = start.epoch;
      }
    };
    const auto some = [&] {
      auto node = model.begin();
      std::advance(node, below(model.size()));
      return node;
    };
    const auto end_ranks = [&](NodeId id, int exit_code) {
      const std::uint64_t epoch = std::exchange(model[id].runs, 0);
      nodes.group.Ended(id, {.epoch = epoch, .exit_code = exit_code, .port = 99});
    };

    for (int step = 0; step < 80; ++step) {
      const std::uint64_t what = model.empty() ? 0 : below(6);
      if (what == 0) {
        const auto ranks = static_cast<std::int64_t>(1 + below(4));
        ++last;
        REQUIRE(nodes.group
                    .Join(last, {.name = "n" + std::to_string(last), .ranks = ranks, .port = 1},
                          "10.0.0." + std::to_string(last))
                    .ok());
        model[last] = {.ranks = ranks, .came = last};
      } else if (what == 1) {
        nodes.clock.Advance(milliseconds(below(3000)));
      } else if (what == 2) {
        const auto node = some();
        nodes.group.Gone(node->first);
        model.erase(node);
      } else if (what == 3) {
        const auto node = some();
        node->second.leaves = true;
        const bool ended = below(2) == 0;
        if (ended) node->second.runs = 0;
        nodes.group.Leave(node->first, {.ended = ended});
      } else if (const auto node = some(); node->second.runs != 0) {
        end_ranks(node->first, 1);
      }
      obey();
    }

    // In the end all ranks end, those who leave go, and time passes: as many as may be start.
    const std::map<NodeId, Model> before = model;
    for (const auto& [id, node] : before) {
      if (node.leaves) {
        nodes.group.Gone(id);
        model.erase(id);
      } else if (node.runs != 0) {
        end_ranks(id, 1);
      }
      obey();
    }
    nodes.clock.Advance(std::chrono::minutes(2));
    obey();
    const auto there = static_cast<std::int64_t>(model.size());
    const auto running = std::count_if(model.begin(), model.end(),
                                       [](const auto& node) { return node.second.runs != 0; });
    REQUIRE(running == (there < min_nodes ? 0 : std::min(there, max_nodes)));
  }
  REQUIRE(starts > 1000);
}

}  // namespace shoal::collectives
