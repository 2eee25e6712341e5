// SPDX-License-Identifier: Apache-2.0
#include "rl/parameters/assembly.h"

#include <catch2/catch.hpp>
#include <vector>

#include "platform/transport/protocol.h"
#include "rl/parameters/difference.h"
#include "tests/rl/parameters/values.h"
#include "tests/rl/parameters/weights.h"

namespace shoal::parameters {
namespace {

std::vector<proto::ParametersPart> PartsOf(const Shipment& shipment) {
  std::vector<proto::ParametersPart> parts;
  for (std::size_t at = 0; at < shipment.bytes().size();) {
    parts.push_back(PartAt(shipment, at));
    at += parts.back().data().size();
  }
  return parts;
}

std::vector<proto::ParametersPart> PartsOf(const Parameters& parameters) {
  return PartsOf(Shipment{.published = PublishedOf(parameters)});
}

Shipment DifferenceBetween(const Parameters& base, const Parameters& target) {
  auto made = MakeDifference(*base.bytes, *target.bytes);
  REQUIRE(made.ok());
  return {.published = PublishedOf(target),
          .base = PublishedOf(base),
          .difference = std::make_shared<const std::string>(*std::move(made))};
}

// Adds all parts, and returns what the last one led to.
absl::StatusOr<std::optional<Parameters>> AddAll(Assembly& assembly, const Shipment& shipment) {
  absl::StatusOr<std::optional<Parameters>> added;
  for (const auto& part : PartsOf(shipment)) {
    added = assembly.Add(part);
    if (!added.ok()) break;
  }
  return added;
}

TEST_CASE("parts of at most one MiB are put together to what was published") {
  const Parameters parameters = ParametersOf(3, 7, (std::size_t{5} << 19) + 1);
  const auto parts = PartsOf(parameters);
  REQUIRE(parts.size() == 3);
  Assembly assembly(1 << 30);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    REQUIRE(parts[i].data().size() <= kPartBytes);
    const bool first_or_last = i == 0 || i + 1 == parts.size();
    REQUIRE(parts[i].sha256() == (first_or_last ? parameters.sha256 : ""));
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

TEST_CASE("differences in parts are put together to files, each from the one before") {
  constexpr std::int64_t kRows = 6000;
  std::vector<Parameters> versions;
  for (std::uint64_t step = 0; step < 3; ++step) versions.push_back(TrainedVersion(step, kRows));
  Assembly assembly(1 << 30);
  REQUIRE(AddAll(assembly, {.published = PublishedOf(versions[0])}).ok());
  for (std::size_t i = 1; i < versions.size(); ++i) {
    const Shipment shipment = DifferenceBetween(versions[i - 1], versions[i]);
    REQUIRE(PartsOf(shipment).size() > 1);
    const auto whole = AddAll(assembly, shipment);
    REQUIRE(whole.ok());
    REQUIRE((*whole)->version == versions[i].version);
    REQUIRE(*(*whole)->bytes == *versions[i].bytes);
  }
}

// An assembly that got the first part from a stream that broke, and gets a new stream.
Assembly Broken(const Parameters& parameters) {
  Assembly assembly(1 << 30);
  REQUIRE(assembly.Add(PartsOf(parameters)[0]).ok());
  assembly.BeginStream();
  return assembly;
}

TEST_CASE("a new stream goes on where the one before broke, within the same file") {
  const Parameters parameters = ParametersOf(1, 1, (std::size_t{5} << 19) + 1);
  Assembly assembly = Broken(parameters);
  const auto partial = assembly.partial();
  REQUIRE(partial);
  REQUIRE(partial->version().step() == 1);
  REQUIRE(partial->sha256() == parameters.sha256);
  REQUIRE(partial->bytes() == kPartBytes);
  const Shipment shipment = {.published = PublishedOf(parameters)};
  REQUIRE(assembly.Add(PartAt(shipment, kPartBytes, /*begins_stream=*/true)).ok());
  const auto whole = assembly.Add(PartAt(shipment, 2 * kPartBytes));
  REQUIRE(whole.ok());
  REQUIRE(*(*whole)->bytes == *parameters.bytes);
  REQUIRE_FALSE(assembly.partial());
}

TEST_CASE("a new stream may begin with another version, and the broken one is forgotten") {
  Assembly assembly = Broken(ParametersOf(1, 1, 3 << 20));
  const auto whole = assembly.Add(PartsOf(ParametersOf(1, 2))[0]);
  REQUIRE(whole.ok());
  REQUIRE((*whole)->version == Version{.epoch = 1, .step = 2});
  REQUIRE_FALSE(assembly.partial());
}

TEST_CASE("a new stream within a file is refused unless it says that it brings that file") {
  const Parameters parameters = ParametersOf(1, 1, 3 << 20);
  const auto good =
      PartAt({.published = PublishedOf(parameters)}, kPartBytes, /*begins_stream=*/true);
  const auto refusal = [&](const proto::ParametersPart& part) {
    Assembly assembly = Broken(parameters);
    const absl::Status status = assembly.Add(part).status();
    REQUIRE_FALSE(assembly.partial());
    REQUIRE(AddAll(assembly, {.published = PublishedOf(parameters)}).ok());
    return status.code();
  };
  auto part = good;
  part.set_sha256(std::string(32, 'x'));
  REQUIRE(refusal(part) == absl::StatusCode::kDataLoss);
  part = good;
  part.clear_sha256();
  REQUIRE(refusal(part) == absl::StatusCode::kInvalidArgument);
  part = good;
  part.set_protocol_version(99);
  REQUIRE(refusal(part) == absl::StatusCode::kFailedPrecondition);
  part = good;
  part.set_offset(2 * kPartBytes);
  REQUIRE(refusal(part) == absl::StatusCode::kInvalidArgument);
  part = good;
  part.mutable_version()->set_step(2);
  REQUIRE(refusal(part) == absl::StatusCode::kInvalidArgument);
}

TEST_CASE("a broken stream whose first part stated no SHA-256, or a difference, begins again") {
  auto part = PartsOf(ParametersOf(1, 1, 3 << 20))[0];
  Assembly assembly(1 << 30);
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{31}, std::size_t{8} << 20}) {
    part.set_sha256(std::string(bytes, 'a'));
    REQUIRE(assembly.Add(part).ok());
    assembly.BeginStream();
    REQUIRE_FALSE(assembly.partial());
  }
  const Shipment shipment = DifferenceBetween(TrainedVersion(1, 6000), TrainedVersion(2, 6000));
  assembly.Hold(TrainedVersion(1, 6000));
  REQUIRE(assembly.Add(PartsOf(shipment)[0]).ok());
  assembly.BeginStream();
  REQUIRE_FALSE(assembly.partial());
  REQUIRE(AddAll(assembly, shipment).ok());
}

TEST_CASE("a difference from a file that came in another way needs it to be held") {
  const Shipment shipment = DifferenceBetween(TrainedVersion(1), TrainedVersion(2));
  Assembly assembly(1 << 30);
  REQUIRE(absl::IsFailedPrecondition(AddAll(assembly, shipment).status()));
  assembly.Hold(TrainedVersion(1));
  REQUIRE(AddAll(assembly, shipment).ok());
}

TEST_CASE("a difference from another file than the one that is held is refused") {
  Assembly assembly(1 << 30);
  assembly.Hold(TrainedVersion(1));
  REQUIRE(absl::IsFailedPrecondition(
      AddAll(assembly, DifferenceBetween(TrainedVersion(2), TrainedVersion(3))).status()));
  assembly.Hold(TrainedVersion(1));
  // The same version of another learner has other bytes.
  const Parameters foreign = VersionOf(1, WeightsFile({.seed = 9}));
  REQUIRE(absl::IsFailedPrecondition(
      AddAll(assembly, DifferenceBetween(foreign, TrainedVersion(3))).status()));
}

TEST_CASE("a file that results from a damaged difference is refused, and nothing is held then") {
  const Shipment good = DifferenceBetween(TrainedVersion(1), TrainedVersion(2));
  Shipment wrong = DifferenceBetween(TrainedVersion(1), TrainedVersion(3));
  wrong.published = good.published;
  Shipment damaged = good;
  damaged.difference = std::make_shared<const std::string>(std::string(100, 'x'));
  Assembly assembly(1 << 30);
  assembly.Hold(TrainedVersion(1));
  REQUIRE(absl::IsDataLoss(AddAll(assembly, wrong).status()));
  REQUIRE_FALSE(assembly.held());
  assembly.Hold(TrainedVersion(1));
  REQUIRE(absl::IsInvalidArgument(AddAll(assembly, damaged).status()));
  REQUIRE_FALSE(assembly.held());
  REQUIRE(AddAll(assembly, {.published = good.published}).ok());
  REQUIRE(assembly.held()->version == good.published->version);
}

TEST_CASE("a difference that promises more bytes than fit is refused at its first part") {
  const Shipment shipment = DifferenceBetween(TrainedVersion(1), TrainedVersion(2));
  auto part = PartAt(shipment, 0);
  part.mutable_difference()->set_file_bytes(std::uint64_t{1} << 40);
  Assembly assembly(1 << 30);
  assembly.Hold(TrainedVersion(1));
  REQUIRE(absl::IsResourceExhausted(assembly.Add(part).status()));
  part.mutable_difference()->set_file_bytes(std::uint64_t{1} << 29);
  assembly.Hold(TrainedVersion(1));
  REQUIRE(absl::IsInvalidArgument(assembly.Add(part).status()));
}

}  // namespace
}  // namespace shoal::parameters
