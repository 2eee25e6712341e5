// SPDX-License-Identifier: Apache-2.0
#include "learner/asynchronous/gradient_note.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

namespace shoal::learner {
namespace {

GradientNote SomeNote() {
  GradientNote note;
  note.report.rows = 255;
  note.report.policy_loss = -0.1;
  note.report.entropy = std::numeric_limits<double>::quiet_NaN();
  note.report.update_epochs = 1;
  note.report.staleness_rows[2] = 7;
  note.report.algorithm_metrics = {{"clip_fraction", 0.125}};
  note.unrolls = 16;
  note.episodes = {.episodes = 2, .mean_return = 21.5, .mean_length = 21, .lost = 3};
  note.counts = {.accepted = 5, .repeated = 1, .stale = std::uint64_t{1} << 40};
  note.inserted_steps = 1e12;
  note.target_number = 3;
  note.encoder_version = "an encoder";
  note.uses = {{.id = {~std::uint64_t{0}, 2, 3}, .use = 4}, {.id = {5, 6, 7}, .use = 1}};
  return note;
}

}  // namespace

TEST_CASE("what a rank tells with a gradient arrives bit by bit") {
  const GradientNote note = SomeNote();
  const auto decoded = DecodeGradientNote(Encode(note));
  INFO(decoded.status());
  REQUIRE(decoded.ok());
  REQUIRE(decoded->report.policy_loss == -0.1);
  REQUIRE(std::isnan(decoded->report.entropy));
  REQUIRE(decoded->report.staleness_rows == note.report.staleness_rows);
  REQUIRE(decoded->report.algorithm_metrics == note.report.algorithm_metrics);
  REQUIRE(decoded->unrolls == 16);
  REQUIRE(decoded->episodes.mean_return == 21.5);
  REQUIRE(decoded->counts.stale == std::uint64_t{1} << 40);
  REQUIRE(decoded->inserted_steps == 1e12);
  REQUIRE(decoded->target_number == 3);
  REQUIRE(decoded->encoder_version == "an encoder");
  REQUIRE(decoded->uses == note.uses);
  REQUIRE(Encode(*decoded) == Encode(note));
  const auto answer = DecodeParameterNote(Encode(ParameterNote{.step = 9, .target_number = 2}));
  REQUIRE(answer.ok());
  REQUIRE(answer->step == 9);
  REQUIRE(answer->target_number == 2);
}

TEST_CASE("counts that are negative or too large are refused, and the error names them") {
  const auto refused = [](const std::string& name, const nlohmann::json& value) {
    nlohmann::json map = nlohmann::json::from_cbor(Encode(SomeNote()));
    map[name] = value;
    std::string bytes;
    nlohmann::json::to_cbor(map, bytes);
    const absl::Status status = DecodeGradientNote(bytes).status();
    INFO(status);
    REQUIRE(absl::IsInvalidArgument(status));
    REQUIRE(std::string(status.message()).find(name) != std::string::npos);
  };
  refused("unrolls", -1);
  refused("unrolls", ~std::uint64_t{0});
  refused("stale", -1);
  using nlohmann::json;
  refused("uses", json::array({json::array({1, 2, 3, std::uint64_t{1} << 32})}));
}

TEST_CASE("bytes that are no note are refused, and no part of them is read past its end") {
  const std::string whole = Encode(SomeNote());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    REQUIRE(absl::IsInvalidArgument(DecodeGradientNote(whole.substr(0, size)).status()));
  }
  REQUIRE(absl::IsInvalidArgument(DecodeGradientNote(whole + "x").status()));
  const std::string answer = Encode(ParameterNote{});
  const absl::Status other = DecodeGradientNote(answer).status();
  REQUIRE(absl::IsInvalidArgument(other));
  REQUIRE(std::string(other.message()).find("rows") != std::string::npos);
  REQUIRE(absl::IsInvalidArgument(DecodeParameterNote(whole).status()));
}

TEST_CASE("a note whose bytes have changed is refused or is another note") {
  const std::string whole = Encode(SomeNote());
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x55);
    const auto decoded = DecodeGradientNote(changed);
    REQUIRE((decoded.ok() || absl::IsInvalidArgument(decoded.status())));
  }
}

}  // namespace shoal::learner
