// SPDX-License-Identifier: Apache-2.0
#include "text/embedding/body_encoder.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/text/embedding/counting_encoder.h"

namespace shoal::embedding {
namespace {

const std::vector<std::string>& Texts() {
  static const std::vector<std::string> kTexts = {
      "power the machine up",
      R"({"@odata.id":"/redfish/v1/Systems/1","PowerState":"On"})",
      R"({"body":{"AssetTag":"a"},"method":"PATCH","uri":"/redfish/v1/Systems/1"})",
      R"({"PowerState":"Off"})",
      R"({"PowerState":)",
      "",
      R"({"around":["drop","set",""],"goal":"drop kim7, set omar17"})",
      R"({"choice":"value kim7 after drop"})"};
  return kTexts;
}

// Returns the first numbers of `row`, and fails unless the rest is zero.
std::vector<std::uint16_t> Head(const std::vector<std::uint16_t>& row, std::size_t size) {
  REQUIRE(std::all_of(row.begin() + static_cast<std::ptrdiff_t>(size), row.end(),
                      [](std::uint16_t half) { return half == 0; }));
  return {row.begin(), row.begin() + static_cast<std::ptrdiff_t>(size)};
}

TEST_CASE(
    "objects that are no requests, goals or choices are bodies; all else goes to the other "
    "encoder") {
  Calls others;
  Calls bodies;
  const bool bodies_are_longer = GENERATE(false, true);
  const std::int64_t sizes[] = {bodies_are_longer ? 8 : 24, bodies_are_longer ? 24 : 8};
  const BodyEncoder encoder(std::make_unique<CountingEncoder>(others, sizes[0], "others"),
                            std::make_unique<CountingEncoder>(bodies, sizes[1], "bodies"));
  REQUIRE(encoder.version() == "others|bodies|2");
  REQUIRE(encoder.dimension() == 24);
  REQUIRE(encoder.body_dimension() == sizes[1]);
  const runtime::Tensor vectors = EncodeAll(encoder, Texts());
  REQUIRE(bodies.texts == std::vector<std::vector<std::string>>{{Texts()[1], Texts()[3]}});
  REQUIRE(others.texts ==
          std::vector<std::vector<std::string>>{
              {Texts()[0], Texts()[2], Texts()[4], Texts()[5], Texts()[6], Texts()[7]}});
  Calls unused;
  for (std::size_t i = 0; i < Texts().size(); ++i) {
    const bool body = i == 1 || i == 3;
    const std::int64_t size = body ? sizes[1] : sizes[0];
    REQUIRE(Head(RowOf(vectors, i), static_cast<std::size_t>(size)) ==
            CountingEncoder(unused, size).VectorOf(Texts()[i]));
  }
}

TEST_CASE("an encoder without texts is not called, and no texts are no vectors") {
  Calls others;
  Calls bodies;
  const BodyEncoder encoder(std::make_unique<CountingEncoder>(others),
                            std::make_unique<CountingEncoder>(bodies));
  REQUIRE(EncodeAll(encoder, {}).shape() == runtime::Shape{0, 16});
  (void)EncodeAll(encoder, {Texts()[1]});
  REQUIRE(others.texts.empty());
  REQUIRE(bodies.count() == 1);
}

TEST_CASE("an error or a wrong shape of either encoder is the whole's") {
  Calls calls;
  for (const bool shape : {true, false}) {
    for (const bool of_bodies : {true, false}) {
      auto others = std::make_unique<CountingEncoder>(calls);
      auto bodies = std::make_unique<CountingEncoder>(calls);
      CountingEncoder& bad = of_bodies ? *bodies : *others;
      (shape ? bad.wrong_shape : bad.fails) = true;
      const BodyEncoder encoder(std::move(others), std::move(bodies));
      const std::vector<std::string_view> texts = {"text", "{}"};
      REQUIRE(absl::IsInternal(encoder.Encode(texts).status()));
    }
  }
}

}  // namespace
}  // namespace shoal::embedding
