// SPDX-License-Identifier: Apache-2.0
#include "cli/simulation/simulated_machine.h"

#include <catch2/catch.hpp>
#include <vector>

namespace shoal::cli {
namespace {

// Returns when tasks of these lengths end that begin together.
std::vector<double> Ends(double processors, const std::vector<double>& tasks) {
  EventQueue events;
  SharedProcessors shared(events, processors);
  std::vector<double> ends(tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    shared.Run(tasks[i], [&ends, &events, i] { ends[i] = events.now(); });
  }
  REQUIRE(events.RunUntil(1000, 1000));
  return ends;
}

void RequireClose(const std::vector<double>& actual, const std::vector<double>& wanted) {
  REQUIRE(actual.size() == wanted.size());
  for (std::size_t i = 0; i < actual.size(); ++i) REQUIRE(actual[i] == Approx(wanted[i]));
}

}  // namespace

TEST_CASE("running tasks share processors equally, and none gets more than one") {
  // One processor: a third each until 3 s, a half each until 5 s, the last one alone.
  RequireClose(Ends(1, {1, 2, 3}), {3, 5, 6});
  // Two processors for three tasks: two thirds each until 1.5 s, then one each.
  RequireClose(Ends(2, {1, 2, 3}), {1.5, 2.5, 3.5});
  RequireClose(Ends(8, {1, 2, 3}), {1, 2, 3});
}

TEST_CASE("a task that comes later slows those that run") {
  EventQueue events;
  SharedProcessors shared(events, 1);
  double first = 0;
  double second = 0;
  shared.Run(2, [&] { first = events.now(); });
  events.At(1, [&] { shared.Run(0.5, [&] { second = events.now(); }); });
  REQUIRE(events.RunUntil(10, 100));
  REQUIRE(second == Approx(2));
  REQUIRE(first == Approx(2.5));
  REQUIRE(shared.busy_seconds() == Approx(2.5));
}

TEST_CASE("a process works its tasks in order, as many at once as it has threads") {
  EventQueue events;
  SharedProcessors shared(events, 4);
  SimulatedProcess process(events, shared, 2);
  std::vector<double> ends;
  for (int i = 0; i < 5; ++i) process.Work(1, [&] { ends.push_back(events.now()); });
  REQUIRE(process.waiting() == 3);
  REQUIRE(events.RunUntil(10, 100));
  RequireClose(ends, {1, 1, 2, 2, 3});
  REQUIRE(process.occupied_seconds() == Approx(5));
}

TEST_CASE("messages of one machine leave one after another, and those to one machine arrive so") {
  EventQueue events;
  NetworkInterface a{.bytes_per_second = 100, .latency_seconds = 0.5};
  NetworkInterface b = a;
  NetworkInterface c = a;
  std::vector<double> arrivals;
  const auto arrived = [&] { arrivals.push_back(events.now()); };
  Deliver(events, a, b, 100, arrived);
  Deliver(events, a, b, 100, arrived);
  Deliver(events, c, b, 100, arrived);
  Deliver(events, a, a, 100, [&] { REQUIRE(events.now() == 0); });
  REQUIRE(events.RunUntil(10, 100));
  RequireClose(arrivals, {1.5, 2.5, 3.5});
  REQUIRE(b.bytes_in == 300);
}

TEST_CASE("events run in order of time, then in the order in which they were added") {
  EventQueue events;
  std::vector<int> order;
  events.At(2, [&] { order.push_back(3); });
  events.At(1, [&] {
    order.push_back(1);
    events.After(0, [&] { order.push_back(2); });
  });
  events.At(2, [&] { order.push_back(4); });
  REQUIRE(events.RunUntil(1.5, 10));
  REQUIRE(order == std::vector<int>{1, 2});
  REQUIRE(events.now() == 1.5);
  REQUIRE(events.RunUntil(5, 10));
  REQUIRE(order == std::vector<int>{1, 2, 3, 4});
  events.At(6, [] {});
  REQUIRE_FALSE(events.RunUntil(7, 4));
}

}  // namespace shoal::cli
