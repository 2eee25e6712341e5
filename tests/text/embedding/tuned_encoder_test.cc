// SPDX-License-Identifier: Apache-2.0
#include "text/embedding/tuned_encoder.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/text/embedding/counting_encoder.h"
#include "tests/text/embedding/small_adapter.h"

namespace shoal::embedding {
namespace {

constexpr std::int64_t kSize = 8;
constexpr const char* kRequest = R"({"method":"PATCH","uri":"/redfish/v1/Systems/1"})";

class Tuned {
 public:
  explicit Tuned(std::uint64_t seed = 1) {
    auto base = std::make_unique<CountingEncoder>(calls_);
    adapter_ = SmallAdapter(*base, kSize, seed);
    base_ = base.get();
    encoder_ = TunedEncoder::Create(std::move(base), adapter_).value();
  }

  std::vector<float> Row(const std::string& text) const {
    std::vector<float> row;
    for (const std::uint16_t half : RowOf(EncodeAll(*encoder_, {text}), 0)) {
      row.push_back(runtime::FromHalf(half));
    }
    return row;
  }
  std::vector<float> BaseRow(const std::string& text) const {
    std::vector<float> row;
    for (const std::uint16_t half : base_->VectorOf(text)) row.push_back(runtime::FromHalf(half));
    return row;
  }

  const TunedEncoder& encoder() const { return *encoder_; }
  const AdapterParameters& adapter() const { return adapter_; }
  CountingEncoder& base() { return *base_; }

 private:
  Calls calls_;
  AdapterParameters adapter_;
  CountingEncoder* base_ = nullptr;
  std::unique_ptr<TunedEncoder> encoder_;
};

void RequireMapped(const Tuned& tuned, const std::string& text, const AffineMap& map) {
  std::vector<float> mapped(kSize);
  const std::vector<float> base = tuned.BaseRow(text);
  Apply(map, base, mapped);
  const std::vector<float> row = tuned.Row(text);
  REQUIRE(row.size() == mapped.size() + base.size());
  for (std::size_t i = 0; i < mapped.size(); ++i) {
    REQUIRE(row[i] == Approx(std::sqrt(0.75) * mapped[i]).margin(1e-3));
  }
  for (std::size_t i = 0; i < base.size(); ++i) {
    REQUIRE(row[mapped.size() + i] == Approx(0.5 * base[i]).margin(1e-3));
  }
}

TEST_CASE("a sentence and a request take different maps, with the base's vector beside") {
  const Tuned tuned;
  REQUIRE(tuned.encoder().dimension() == kSize + 16);
  RequireMapped(tuned, "set the asset tag", tuned.adapter().sentences);
  RequireMapped(tuned, "{broken", tuned.adapter().sentences);
  RequireMapped(tuned, R"({"around":["drop","set",""],"goal":"drop kim7, set omar17"})",
                tuned.adapter().sentences);
  RequireMapped(tuned, kRequest, tuned.adapter().requests);
  RequireMapped(tuned, R"({"PowerState":"On"})", tuned.adapter().requests);
}

TEST_CASE("the whole has length 1, and the empty text is the zero vector") {
  const Tuned tuned;
  double sum = 0;
  for (const float x : tuned.Row(kRequest)) sum += static_cast<double>(x) * x;
  REQUIRE(sum == Approx(1).margin(5e-3));
  for (const float x : tuned.Row("")) REQUIRE(x == 0);
}

TEST_CASE("the version names base and adapter, so that caches never mix two adapters") {
  const Tuned first;
  const Tuned same;
  const Tuned other(2);
  REQUIRE(first.encoder().version().starts_with("counting+tuned-"));
  REQUIRE(first.encoder().version() == same.encoder().version());
  REQUIRE(first.encoder().version() != other.encoder().version());
}

TEST_CASE("an adapter of another version or size of its base is refused") {
  Calls calls;
  const CountingEncoder base(calls);
  const AdapterParameters adapter = SmallAdapter(base);
  const absl::Status other_version =
      TunedEncoder::Create(std::make_unique<CountingEncoder>(calls, 16, "newer"), adapter).status();
  REQUIRE(absl::IsFailedPrecondition(other_version));
  REQUIRE(runtime::Message(other_version).find("newer") != std::string::npos);
  REQUIRE(absl::IsFailedPrecondition(
      TunedEncoder::Create(std::make_unique<CountingEncoder>(calls, 12), adapter).status()));
  AdapterParameters broken = adapter;
  broken.sentences.bias.clear();
  REQUIRE(absl::IsInvalidArgument(
      TunedEncoder::Create(std::make_unique<CountingEncoder>(calls), broken).status()));
}

TEST_CASE("what the base cannot encode is its error, and a wrong shape is one, too") {
  Tuned tuned;
  const std::string_view text = "a";
  tuned.base().fails = true;
  REQUIRE(absl::IsInternal(tuned.encoder().Encode({&text, 1}).status()));
  tuned.base().fails = false;
  tuned.base().wrong_shape = true;
  REQUIRE(absl::IsInternal(tuned.encoder().Encode({&text, 1}).status()));
}

}  // namespace
}  // namespace shoal::embedding
