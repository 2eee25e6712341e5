// SPDX-License-Identifier: Apache-2.0
#include "inference/service/model_policy.h"

#include <catch2/catch.hpp>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace shoal::inference {
namespace {

constexpr std::size_t kDevices = 3;

struct Devices {
  Devices() {
    spec.hidden = {4};
    spec.value_hidden = {4};
    spec.past_requests = false;
    spec.observation_size = 2;
    spec.head = "discrete";
    spec.action_count = 2;
    spec.content_fields = {};
  }
  // Puts a version that the device `refusing` does not take.
  absl::Status Put(parameters::Version version, std::optional<std::size_t> refusing,
                   const std::optional<PolicySelector>& asked = std::nullopt) {
    made = 0;
    const std::string bytes = model::InitialParameters(spec, version.step + 1).value();
    std::vector<ReplicaMaker> makers;
    for (std::size_t i = 0; i < kDevices; ++i) {
      makers.push_back([&, i]() -> absl::StatusOr<ModelPolicy::Replica> {
        if (i == refusing) return runtime::ResourceExhausted("cuda:1: out of memory");
        SHOAL_ASSIGN_OR_RETURN(auto policy,
                               model::Policy::FromSafetensors(spec, bytes, /*previous=*/nullptr));
        ++made;
        return ModelPolicy::Replica{std::move(policy), std::make_shared<model::SimilarityCache>()};
      });
    }
    return PutReplicas({.version = version, .policy = nullptr}, makers, policies, asked);
  }
  std::vector<const model::Policy*> Acting() const {
    const VersionedPolicy current = policies.current();
    std::vector<const model::Policy*> acting;
    for (std::size_t i = 0; i < kDevices; ++i) {
      acting.push_back(&static_cast<const ModelPolicy&>(*current.policy).policy(i));
    }
    return acting;
  }

  model::PolicySpec spec;
  PolicySet policies{4};
  std::size_t made = 0;
};

}  // namespace

TEST_CASE("A version that one device cannot take is put on none, and the one before acts on all") {
  Devices devices;
  REQUIRE(devices.Put({1, 1}, /*refusing=*/std::nullopt).ok());
  REQUIRE(devices.made == kDevices);
  const auto before = devices.Acting();

  REQUIRE(devices.Put({1, 2}, /*refusing=*/1) ==
          runtime::ResourceExhausted("cuda:1: out of memory"));
  REQUIRE(devices.made == 1);
  REQUIRE(devices.policies.current().version == parameters::Version{1, 1});
  REQUIRE(devices.Acting() == before);
  const PolicySelector pinned{PolicySelector::Kind::kPinned, {1, 2}};
  REQUIRE(absl::IsNotFound(devices.policies.Select(pinned).status()));

  REQUIRE(devices.Put({1, 3}, /*refusing=*/std::nullopt).ok());
  REQUIRE(devices.policies.current().version == parameters::Version{1, 3});
  REQUIRE(devices.Acting() != before);
}

TEST_CASE("A version that rows asked for is put for them and does not become the current one") {
  Devices devices;
  REQUIRE(devices.Put({1, 5}, /*refusing=*/std::nullopt).ok());
  const PolicySelector pinned{PolicySelector::Kind::kPinned, {1, 2}};
  REQUIRE(!devices.Put({1, 2}, /*refusing=*/1, pinned).ok());
  REQUIRE(!devices.policies.Select(pinned).ok());
  REQUIRE(devices.Put({1, 2}, /*refusing=*/std::nullopt, pinned).ok());
  REQUIRE(devices.policies.Select(pinned)->version == parameters::Version{1, 2});
  REQUIRE(devices.policies.current().version == parameters::Version{1, 5});
}

}  // namespace shoal::inference
