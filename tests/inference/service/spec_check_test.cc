// SPDX-License-Identifier: Apache-2.0
#include "inference/service/spec_check.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "platform/transport/protocol.h"

namespace shoal::inference {
namespace {

model::PolicySpec Policy() {
  model::PolicySpec spec;
  spec.head = "discrete";
  spec.observation_size = 2;
  spec.action_count = 2;
  spec.content_fields = {};
  return spec;
}

proto::ActHello Hello() {
  proto::ActHello hello;
  hello.set_protocol_version(transport::kProtocolVersion);
  proto::ObservationSpec& observation = *hello.mutable_spec()->add_observations();
  observation.set_name("state");
  observation.set_dtype(proto::FLOAT32);
  observation.add_shape(2);
  hello.mutable_spec()->mutable_action()->mutable_discrete()->set_count(2);
  return hello;
}

void AddExtra(proto::ActHello& hello, const std::string& name, std::int64_t bytes) {
  proto::ObservationSpec& extra = *hello.mutable_spec()->add_extras();
  extra.set_name(name);
  extra.set_dtype(proto::UINT8);
  extra.add_shape(bytes);
}

TEST_CASE("An environment that fits the policy has its rows laid out") {
  proto::ActHello hello = Hello();
  AddExtra(hello, "one", 3);
  AddExtra(hello, "two", 4);
  const auto layout = CheckHello(hello, Policy());
  REQUIRE(layout.ok());
  REQUIRE((*layout)->observation_size == 2);
  REQUIRE((*layout)->extras_bytes == 7);
}

TEST_CASE("Observations of several dtypes are laid out one after another") {
  proto::ActHello hello = Hello();
  hello.mutable_spec()->mutable_observations(0)->set_shape(0, 1);
  hello.mutable_spec()->mutable_observations(0)->set_dtype(proto::INT64);
  proto::ObservationSpec& pixel = *hello.mutable_spec()->add_observations();
  pixel.set_name("pixel");
  pixel.set_dtype(proto::UINT8);
  const auto layout = CheckHello(hello, Policy());
  REQUIRE(layout.ok());
  REQUIRE((*layout)->observation_size == 2);
  REQUIRE((*layout)->observation_bytes == 9);
}

TEST_CASE("A policy with a convolution takes bytes of its frame's shape, and nothing else") {
  model::PolicySpec policy = Policy();
  policy.past_requests = false;
  policy.convolution = "impala";
  policy.frame_shape = {1, 2, 1};
  REQUIRE(policy.Validate().ok());
  REQUIRE(ShapeOf(policy, 0).frames);
  proto::ActHello hello = Hello();
  proto::ObservationSpec& frame = *hello.mutable_spec()->mutable_observations(0);
  REQUIRE(runtime::Message(CheckHello(hello, policy).status()) ==
          "the policy sees frames of uint8 [1, 2, 1] through its convolution, the environment "
          "sends state float32 [2]");
  frame.set_dtype(proto::UINT8);
  REQUIRE_FALSE(CheckHello(hello, policy).ok());
  frame.clear_shape();
  for (const std::int64_t side : {1, 2, 1}) frame.add_shape(side);
  REQUIRE(CheckHello(hello, policy).ok());
  frame.set_shape(1, 1);
  *hello.mutable_spec()->add_observations() = frame;
  hello.mutable_spec()->mutable_observations(1)->set_name("other");
  REQUIRE_FALSE(CheckHello(hello, policy).ok());
}

TEST_CASE("An environment with other kinds of marks than the policy's is refused, naming both") {
  proto::ActHello hello = Hello();
  hello.mutable_spec()->set_candidate_marks(3);
  const auto layout = CheckHello(hello, Policy());
  REQUIRE(absl::IsFailedPrecondition(layout.status()));
  const std::string message(layout.status().message());
  REQUIRE(message.find("knows 0 kinds") != std::string::npos);
  REQUIRE(message.find("sends 3") != std::string::npos);
}

TEST_CASE("An actor that relabels is refused by a policy without action values, and told why") {
  proto::ActHello hello = Hello();
  hello.set_relabels(true);
  const auto refused = CheckHello(hello, Policy());
  REQUIRE(absl::IsFailedPrecondition(refused.status()));
  REQUIRE(refused.status().message().find("actor.hindsight.strategy") != std::string::npos);
  model::PolicySpec values = Policy();
  values.action_values = true;
  REQUIRE(CheckHello(hello, values).ok());
}

TEST_CASE("Extras of 64 KiB a row are taken, and more are refused by name and limit") {
  proto::ActHello hello = Hello();
  AddExtra(hello, "fits", static_cast<std::int64_t>(kMaxExtrasBytes));
  REQUIRE(CheckHello(hello, Policy()).ok());
  AddExtra(hello, "beyond", 1);
  const absl::Status refused = CheckHello(hello, Policy()).status();
  REQUIRE(absl::IsInvalidArgument(refused));
  REQUIRE(runtime::Message(refused) ==
          "extra beyond: the extras of a row come to 65537 bytes, the limit is 65536");
}

TEST_CASE("Many extras of many elements are refused before anything is reserved for them") {
  proto::ActHello hello = Hello();
  for (int i = 0; i < 64; ++i) AddExtra(hello, "extra " + std::to_string(i), 1 << 24);
  REQUIRE(absl::IsInvalidArgument(CheckHello(hello, Policy()).status()));
}

TEST_CASE(
    "A box that fits the policy is part of the layout, and any other is refused in a sentence") {
  model::PolicySpec policy = Policy();
  policy.head = "box";
  policy.twin_critics = true;
  const auto checked = [&](const std::vector<float>& low, const std::vector<float>& high) {
    proto::ActHello hello = Hello();
    proto::ActionSpec::Box& box = *hello.mutable_spec()->mutable_action()->mutable_box();
    box.mutable_low()->Add(low.begin(), low.end());
    box.mutable_high()->Add(high.begin(), high.end());
    return CheckHello(hello, policy);
  };
  const auto layout = checked({-2, 0}, {2, 5});
  REQUIRE(layout.ok());
  REQUIRE((*layout)->action_high == std::vector<float>{2, 5});
  REQUIRE(ShapeOf(policy, 0).box);
  REQUIRE(absl::IsFailedPrecondition(checked({-2}, {2}).status()));
  REQUIRE(absl::IsInvalidArgument(checked({-2, 0}, {2}).status()));
  REQUIRE(absl::IsInvalidArgument(checked({-2, 5}, {2, 5}).status()));
  REQUIRE(absl::IsInvalidArgument(checked({-2, 0}, {2, std::nanf("")}).status()));
  REQUIRE(absl::IsInvalidArgument(checked({-2, 0}, {2, HUGE_VALF}).status()));
  REQUIRE(absl::IsFailedPrecondition(CheckHello(Hello(), policy).status()));
}

}  // namespace
}  // namespace shoal::inference
