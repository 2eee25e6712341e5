// SPDX-License-Identifier: Apache-2.0
#include "encoder/body_evaluation.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <sstream>

#include "platform/content/content_key.h"
#include "platform/runtime/random.h"
#include "platform/runtime/tensor.h"

namespace shoal::encoder {
namespace {

using nlohmann::json;

constexpr std::size_t kBodyWidth = 64;

// Adds a random direction for each leaf that `sees` accepts, so that equal leaves are equal parts.
class LeafEncoder final : public tokens::TextEncoder {
 public:
  explicit LeafEncoder(std::function<bool(const std::string&)> sees) : sees_(std::move(sees)) {}

  const std::string& version() const override { return version_; }
  std::int64_t dimension() const override { return kBodyWidth; }
  absl::StatusOr<runtime::Tensor> Encode(std::span<const std::string_view> texts) const override {
    runtime::Tensor vectors(runtime::DType::kFloat16,
                            {static_cast<std::int64_t>(texts.size()), dimension()});
    auto* out = reinterpret_cast<std::uint16_t*>(vectors.mutable_bytes().data());
    for (const std::string_view text : texts) {
      std::vector<double> sum(kBodyWidth);
      const json flat = json::parse(text).flatten();
      for (const auto& [path, value] : flat.items()) {
        if (!sees_(path)) continue;
        const std::string leaf = path + "=" + value.dump();
        std::uint64_t seed = 0;
        std::memcpy(&seed, content::KeyOf(leaf).bytes.data(), sizeof(seed));
        runtime::Random random(seed);
        for (double& x : sum) x += random.Normal();
      }
      double norm = 1e-9;
      for (const double x : sum) norm += x * x;
      for (const double x : sum) {
        *out++ = runtime::ToHalf(static_cast<float>(x / std::sqrt(norm)));
      }
    }
    return vectors;
  }

 private:
  const std::function<bool(const std::string&)> sees_;
  const std::string version_ = "leaves";
};

CaptureBodies SomeBodies(const std::string& name, std::uint64_t seed) {
  runtime::Random random(seed);
  CaptureBodies capture{name, "", {}};
  for (int i = 0; i < 80; ++i) {
    const auto pick = [&](const char* a, const char* b) { return random.Below(2) == 0 ? a : b; };
    capture.bodies.push_back({{"@odata.id", "/redfish/v1/" + name + "/" + std::to_string(i)},
                              {"Name", name + std::to_string(i)},
                              {"PowerState", pick("On", "Off")},
                              {"Health", pick("OK", "Critical")},
                              {"Mode", pick("Fast", "Slow")}});
  }
  return capture;
}

BodyScore ScoreOf(const std::function<bool(const std::string&)>& sees) {
  BodyEvaluationOptions options;
  options.examples = 80;
  options.bodies = 50;
  const LeafEncoder encoder(sees);
  return ScoreBodies(options, encoder, {SomeBodies("a", 1)}, {SomeBodies("b", 2)}).value();
}

TEST_CASE("an encoder that sees every leaf tells values, twins and resources") {
  const BodyScore score = ScoreOf([](const std::string&) { return true; });
  REQUIRE(score.properties == 3);
  REQUIRE(score.values > 0.95);
  REQUIRE(score.twins > 0.95);
  REQUIRE(score.same > 0.95);
  REQUIRE(score.first_per_second > 0);
  REQUIRE(score.changed_per_second > 0);
}

TEST_CASE("an encoder that sees only identities tells resources and nothing of their states") {
  const BodyScore score =
      ScoreOf([](const std::string& path) { return path == "/@odata.id" || path == "/Name"; });
  REQUIRE(score.values < 0.62);
  REQUIRE(score.same == 1);
  REQUIRE(score.twins < 0.7);
}

TEST_CASE("an encoder that sees only states cannot tell resources") {
  const BodyScore score =
      ScoreOf([](const std::string& path) { return path != "/@odata.id" && path != "/Name"; });
  REQUIRE(score.values > 0.95);
  REQUIRE(score.same < 0.5);
}

TEST_CASE("captures without a common property are refused") {
  CaptureBodies other{"b", "", {json{{"Other", "x"}}, json{{"Other", "y"}}}};
  const LeafEncoder encoder([](const std::string&) { return true; });
  REQUIRE(
      absl::IsInvalidArgument(ScoreBodies({}, encoder, {SomeBodies("a", 1)}, {other}).status()));
}

TEST_CASE("the command prints a row and a result for each encoder, and names what is not there") {
  BodyEvaluationOptions options;
  options.encoders = {"lexical"};
  options.training = {"dmtf-acd"};
  options.captures = {"dmtf-catfish"};
  options.properties = 2;
  options.examples = 20;
  options.bodies = 10;
  std::ostringstream out;
  REQUIRE(EvaluateBodies(options, out).ok());
  REQUIRE(out.str().find("\nresult encoder=lexical version=lexical-") != std::string::npos);
  options.encoders = {"words"};
  REQUIRE(absl::IsInvalidArgument(EvaluateBodies(options, out)));
  options.captures = {"no-such"};
  REQUIRE(absl::IsNotFound(EvaluateBodies(options, out)));
}

}  // namespace
}  // namespace shoal::encoder
