// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/bounded_queue.h"

#include <catch2/catch.hpp>
#include <memory>
#include <vector>

#include "platform/runtime/thread.h"
#include "tests/doubles/manual_clock.h"

namespace shoal::runtime {

TEST_CASE("items leave in the order they came, and a full queue refuses without taking the item") {
  BoundedQueue<std::unique_ptr<int>> queue(2);
  REQUIRE(queue.TryPush(std::make_unique<int>(1)));
  REQUIRE(queue.TryPush(std::make_unique<int>(2)));
  auto third = std::make_unique<int>(3);
  REQUIRE_FALSE(queue.TryPush(std::move(third)));
  REQUIRE(third != nullptr);
  REQUIRE(queue.rejected_total() == 1);
  REQUIRE(**queue.Pop() == 1);
  REQUIRE(**queue.Pop() == 2);
}

TEST_CASE("a drained queue gives what it has and then nothing; a closed one drops it") {
  BoundedQueue<int> drained(4);
  REQUIRE(drained.TryPush(1));
  drained.Drain();
  REQUIRE_FALSE(drained.TryPush(2));
  REQUIRE(drained.Pop() == 1);
  REQUIRE_FALSE(drained.Pop().has_value());

  BoundedQueue<int> closed(4);
  REQUIRE(closed.TryPush(1));
  closed.Close();
  REQUIRE_FALSE(closed.Pop().has_value());
}

TEST_CASE("waiting for an item ends at the deadline of the clock") {
  doubles::ManualClock clock;
  BoundedQueue<int> queue(1, clock);
  const TimePoint deadline = clock.Now() + std::chrono::seconds(5);
  Thread mover("mover", [&clock] { clock.Advance(std::chrono::seconds(6)); });
  REQUIRE_FALSE(queue.PopUntil(deadline).has_value());
}

TEST_CASE("no item is lost or doubled between four producers and three consumers") {
  constexpr int kEach = 2000;
  BoundedQueue<int> queue(16);
  std::vector<std::vector<int>> taken(3);
  {
    std::vector<Thread> consumers;
    for (auto& mine : taken) {
      consumers.emplace_back("consumer", [&queue, &mine] {
        while (const auto item = queue.Pop()) mine.push_back(*item);
      });
    }
    std::vector<Thread> producers;
    for (int p = 0; p < 4; ++p) {
      producers.emplace_back("producer", [&queue, p] {
        for (int i = 0; i < kEach; ++i) queue.Push(p * kEach + i);
      });
    }
    for (Thread& producer : producers) producer.Join();
    queue.Drain();
  }
  std::vector<int> seen(4 * kEach, 0);
  for (const auto& mine : taken) {
    for (const int item : mine) ++seen[static_cast<std::size_t>(item)];
  }
  REQUIRE(std::count(seen.begin(), seen.end(), 1) == 4 * kEach);
}

}  // namespace shoal::runtime
