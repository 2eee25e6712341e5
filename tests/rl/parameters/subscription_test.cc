// SPDX-License-Identifier: Apache-2.0
#include "rl/parameters/subscription.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "platform/transport/channel.h"

namespace shoal::parameters {
namespace {

TEST_CASE("The last wake has returned when the end of a subscription is known") {
  const auto channel = transport::CreateChannel("127.0.0.1:1");
  const auto stub = proto::Parameters::NewStub(channel);
  for (int i = 0; i < 20; ++i) {
    const auto wakes = std::make_shared<std::atomic<int>>(0);
    const auto subscription = std::make_shared<Subscription>([wakes] {
      // This gives AwaitEnd time to return too early.
      for (int turn = 0; turn < 1'000; ++turn) std::this_thread::yield();
      ++*wakes;
    });
    subscription->Start(*stub, {});
    // Nobody serves that port, so the call would wait for ever.
    subscription->Cancel();
    REQUIRE(absl::IsCancelled(subscription->AwaitEnd()));
    REQUIRE(*wakes == 1);
  }
}

}  // namespace
}  // namespace shoal::parameters
