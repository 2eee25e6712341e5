// SPDX-License-Identifier: Apache-2.0
#include "replay/waiters.h"

#include <catch2/catch.hpp>

#include "platform/runtime/random.h"

namespace shoal::replay {
namespace {

// Wants `wanted` pieces of what `left` holds, and takes one when it is woken.
class Taker final : public Waiter {
 public:
  Taker(Waiters& waiters, int& left) : waiters_(waiters), left_(left) {}

  void Wake() override {
    if (wanted == 0 || left_ == 0) return;
    --left_;
    --wanted;
    ++taken;
    waiters_.Leave(this);
    if (wanted > 0) waiters_.Stand(this, "unrolls");
  }
  std::set<std::string> WaitsFor() override {
    return wanted > 0 ? std::set<std::string>{"unrolls"} : std::set<std::string>();
  }

  int wanted = 0;
  int taken = 0;

 private:
  Waiters& waiters_;
  int& left_;
};

struct Takers {
  explicit Takers(int count) {
    for (int i = 0; i < count; ++i) {
      takers.push_back(std::make_shared<Taker>(waiters, left));
      waiters.Add(takers.back());
    }
  }
  void Want(std::size_t taker, int wanted) {
    takers[taker]->wanted = wanted;
    waiters.Stand(takers[taker].get(), "unrolls");
  }
  bool OthersBefore(std::size_t taker, const std::string& table = "unrolls") const {
    return waiters.OthersStandBefore(takers[taker].get(), table);
  }

  Waiters waiters;
  int left = 0;
  std::vector<std::shared_ptr<Taker>> takers;
};

TEST_CASE("whoever has waited longest is first, and keeps the place until it has got something") {
  Takers all(3);
  all.Want(2, 5);
  all.Want(0, 5);
  all.Want(1, 5);
  all.Want(2, 5);
  REQUIRE(all.OthersBefore(0));
  REQUIRE_FALSE(all.OthersBefore(2));
  for (const std::size_t next : {2, 0, 1, 2, 0, 1}) {
    const int before = all.takers[next]->taken;
    all.left = 1;
    all.waiters.WakeAll();
    all.waiters.WakeAll();
    REQUIRE(all.takers[next]->taken == before + 1);
  }
}

TEST_CASE("a stream that waits for one table stands before nobody of another one") {
  Takers all(3);
  all.waiters.Stand(all.takers[0].get(), "empty");
  REQUIRE_FALSE(all.OthersBefore(1));
  REQUIRE(all.OthersBefore(1, "empty"));
  all.Want(1, 1);
  REQUIRE(all.OthersBefore(2));
  REQUIRE_FALSE(all.OthersBefore(1));
}

TEST_CASE("whatever comes when, no waiter is passed over more often than there are others") {
  constexpr int kTakers = 5;
  runtime::Random random(3);
  Takers all(kTakers);
  std::vector<int> passed(kTakers, 0);
  for (int i = 0; i < 20000; ++i) {
    const auto who = static_cast<std::size_t>(random.Below(kTakers));
    if (all.takers[who]->wanted == 0) all.Want(who, static_cast<int>(1 + random.Below(9)));
    all.left = 1;
    std::vector<int> before;
    for (const auto& taker : all.takers) before.push_back(taker->taken);
    for (std::uint64_t wakes = random.Below(4); wakes > 0; --wakes) all.waiters.WakeAll();
    if (all.left == 1) continue;
    for (std::size_t t = 0; t < kTakers; ++t) {
      const bool served = all.takers[t]->taken > before[t];
      passed[t] = served || all.takers[t]->wanted == 0 ? 0 : passed[t] + 1;
      REQUIRE(passed[t] < kTakers);
    }
  }
}

TEST_CASE("a stream that is gone stands before nobody") {
  Takers all(2);
  all.Want(0, 1);
  all.Want(1, 1);
  all.waiters.Remove(all.takers[0].get());
  REQUIRE_FALSE(all.OthersBefore(1));
  REQUIRE(all.waiters.Waiting().at("unrolls") == 1);
}

}  // namespace
}  // namespace shoal::replay
