// SPDX-License-Identifier: Apache-2.0
#include "encoder/token_choice.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>

namespace shoal::encoder {
namespace {

using dataset::SpanKind;

using Mask = std::vector<std::uint8_t>;

Mask MaskOf(const char* names, const Chunk& chunk, std::uint64_t stream = 0) {
  runtime::Random draws(1, stream);
  return TokenChoice::Parse(names)->Mask(chunk, draws);
}

TEST_CASE("a choice holds the spans of its kinds, whole, and nothing past the text") {
  const std::vector<std::int32_t> tokens(8, 1);
  const std::vector<dataset::Span> spans = {
      {SpanKind::kActions, 1, 3}, {SpanKind::kTarget, 2, 5}, {SpanKind::kArray, 6, 99}};
  const Chunk chunk{tokens, spans};
  const auto name = [](SpanKind kind) { return std::string(dataset::NameOf(kind)); };
  REQUIRE(MaskOf("all", chunk) == Mask{1, 1, 1, 1, 1, 1, 1, 1});
  REQUIRE(MaskOf(name(SpanKind::kActions).c_str(), chunk) == Mask{0, 1, 1, 0, 0, 0, 0, 0});
  const std::string both = name(SpanKind::kTarget) + "+" + name(SpanKind::kActions);
  REQUIRE(MaskOf(both.c_str(), chunk) == Mask{0, 1, 1, 1, 1, 0, 0, 0});
  REQUIRE(MaskOf(name(SpanKind::kArray).c_str(), chunk) == Mask{0, 0, 0, 0, 0, 0, 1, 1});
  REQUIRE(MaskOf(name(SpanKind::kObject).c_str(), chunk) == Mask(8, 0));
  REQUIRE(MaskOf("random", Chunk{}).empty());
}

TEST_CASE("random spans cover their share of a text, other ones each time") {
  const std::vector<std::int32_t> tokens(1000, 1);
  std::vector<Mask> masks;
  for (std::uint64_t stream = 0; stream < 20; ++stream) {
    masks.push_back(MaskOf("random", {tokens, {}}, stream));
    const auto covered = std::accumulate(masks.back().begin(), masks.back().end(), 0);
    REQUIRE(covered > 80);
    REQUIRE(covered < 200);
  }
  REQUIRE(masks[0] != masks[1]);
  REQUIRE(masks[0] == MaskOf("random", {tokens, {}}, 0));
  REQUIRE(MaskOf("random", {std::span(tokens).first(1), {}}) == Mask{1});
}

TEST_CASE("a curriculum changes its choice where it says") {
  const auto curriculum = Curriculum::Parse("0:all,0.25:actions+target,0.5:random").value();
  REQUIRE(curriculum.At(0).name == "all");
  REQUIRE(curriculum.At(0.2499).choice.all);
  REQUIRE(curriculum.At(0.25).name == "actions+target");
  REQUIRE(curriculum.At(0.4).choice == TokenChoice::Parse("target+actions").value());
  REQUIRE(curriculum.At(0.5).choice.random);
  REQUIRE(curriculum.At(1.5).name == "random");
  REQUIRE(curriculum.last().name == "random");
  REQUIRE(Curriculum::Parse("response").value().At(0).name == "response");
}

TEST_CASE("a choice or curriculum that makes no sense is refused, naming what") {
  const auto problem = [](const char* text) {
    const auto curriculum = Curriculum::Parse(text);
    REQUIRE(absl::IsInvalidArgument(curriculum.status()));
    return runtime::Message(curriculum.status());
  };
  REQUIRE(problem("all+nothing").find("nothing") != std::string::npos);
  REQUIRE(problem("0.5:all").find("begin at 0") != std::string::npos);
  REQUIRE(problem("0:all,0.5:target,0.5:random").find("0.5:random") != std::string::npos);
  REQUIRE(problem("0:all,nan:target").find("nan") != std::string::npos);
  REQUIRE(problem("0:all,2:target").find("'2'") != std::string::npos);
  problem("");
  problem("0:all,");
  problem("all++target");
}

}  // namespace
}  // namespace shoal::encoder
