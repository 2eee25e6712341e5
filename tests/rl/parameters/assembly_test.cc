// SPDX-License-Identifier: Apache-2.0
#include "rl/parameters/assembly.h"

#include <catch2/catch.hpp>
#include <vector>

#include "platform/transport/protocol.h"
#include "tests/rl/parameters/values.h"

namespace shoal::parameters {
namespace {

std::vector<proto::ParametersPart> PartsOf(const Parameters& parameters) {
  const std::string digest = Sha256(*parameters.bytes);
  std::vector<proto::ParametersPart> parts;
  for (std::size_t at = 0; at < parameters.bytes->size();) {
    parts.push_back(PartAt(parameters, digest, at));
    at += parts.back().data().size();
  }
  return parts;
}

TEST_CASE("parts of at most one MiB are put together to what was published") {
  const Parameters parameters = ParametersOf(3, 7, (std::size_t{5} << 19) + 1);
  const auto parts = PartsOf(parameters);
  REQUIRE(parts.size() == 3);
  Assembly assembly(1 << 30);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    REQUIRE(parts[i].data().size() <= kPartBytes);
    REQUIRE(parts[i].sha256().empty() == (i + 1 < parts.size()));
    const auto whole = assembly.Add(parts[i]);
    REQUIRE(whole.ok());
    REQUIRE(whole->has_value() == (i + 1 == parts.size()));
    if (!whole->has_value()) continue;
    REQUIRE((*whole)->version == parameters.version);
    REQUIRE((*whole)->spec_digest == "spec");
    REQUIRE((*whole)->encoder_version == "encoder");
    REQUIRE(*(*whole)->bytes == *parameters.bytes);
  }
}

TEST_CASE("a byte that changed on the way is noticed") {
  auto parts = PartsOf(ParametersOf(1, 1));
  (*parts[0].mutable_data())[5] ^= 1;
  Assembly assembly(1 << 30);
  REQUIRE(absl::IsDataLoss(assembly.Add(parts[0]).status()));
  parts = PartsOf(ParametersOf(1, 1));
  parts[0].clear_sha256();
  REQUIRE(absl::IsDataLoss(assembly.Add(parts[0]).status()));
  REQUIRE(assembly.Add(PartsOf(ParametersOf(1, 1))[0]).ok());
}

TEST_CASE("parts that do not follow one another are refused") {
  const auto parts = PartsOf(ParametersOf(1, 1, 3 << 20));
  Assembly assembly(1 << 30);
  REQUIRE(absl::IsInvalidArgument(assembly.Add(parts[1]).status()));
  REQUIRE(assembly.Add(parts[0]).ok());
  REQUIRE(absl::IsInvalidArgument(assembly.Add(parts[2]).status()));
  REQUIRE(assembly.Add(parts[0]).ok());
  proto::ParametersPart other = parts[1];
  other.mutable_version()->set_step(2);
  REQUIRE(absl::IsInvalidArgument(assembly.Add(other).status()));
  REQUIRE(assembly.Add(parts[0]).ok());
  proto::ParametersPart empty = parts[1];
  empty.clear_data();
  REQUIRE(absl::IsInvalidArgument(assembly.Add(empty).status()));
}

TEST_CASE("a version past the limit, or past its own total, is refused") {
  auto parts = PartsOf(ParametersOf(1, 1, 3 << 20));
  Assembly small(1 << 20);
  REQUIRE(absl::IsResourceExhausted(small.Add(parts[0]).status()));
  Assembly assembly(1 << 30);
  parts[0].set_total_bytes(10);
  REQUIRE(absl::IsInvalidArgument(assembly.Add(parts[0]).status()));
}

TEST_CASE("a version that begins again replaces the one in the making") {
  const auto parts = PartsOf(ParametersOf(1, 1, 2 << 20));
  Assembly assembly(1 << 30);
  REQUIRE(assembly.Add(parts[0]).ok());
  const auto whole = assembly.Add(PartsOf(ParametersOf(1, 2))[0]);
  REQUIRE(whole.ok());
  REQUIRE((*whole)->version == Version{.epoch = 1, .step = 2});
}

TEST_CASE("parts of a learner of another protocol version are refused, naming both versions") {
  auto parts = PartsOf(ParametersOf(1, 2));
  parts[0].set_protocol_version(7);
  Assembly assembly(1 << 20);
  const absl::Status refused = assembly.Add(parts[0]).status();
  REQUIRE(absl::IsFailedPrecondition(refused));
  REQUIRE(runtime::Message(refused).starts_with(
      "the learner speaks protocol 7, this inference server speaks " +
      std::to_string(transport::kProtocolVersion) + ":"));
}

}  // namespace
}  // namespace shoal::parameters
