// SPDX-License-Identifier: Apache-2.0
#include "rl/parameters/subscription.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "platform/transport/channel.h"
#include "platform/transport/protocol.h"
#include "tests/doubles/eventually.h"
#include "tests/rl/parameters/values.h"

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

TEST_CASE("A subscription waits until its learner is there") {
  const std::string address = PublisherServer().address();
  const auto channel = transport::CreateChannel(address);
  const auto stub = proto::Parameters::NewStub(channel);
  const auto subscription = std::make_shared<Subscription>([] {});
  proto::SubscribeRequest request;
  request.set_protocol_version(transport::kProtocolVersion);
  subscription->Start(*stub, std::move(request));
  REQUIRE(doubles::Eventually([&] {
    return channel->GetState(/*try_to_connect=*/true) == GRPC_CHANNEL_TRANSIENT_FAILURE;
  }));
  PublisherServer server(address);
  server.publisher().Publish(ParametersOf(1, 0));
  bool came = false;
  REQUIRE(doubles::Eventually([&] {
    came = subscription->TakePart().has_value();
    return came || subscription->ended();
  }));
  REQUIRE(came);
  subscription->Cancel();
  subscription->AwaitEnd().IgnoreError();
}

}  // namespace
}  // namespace shoal::parameters
