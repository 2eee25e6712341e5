// SPDX-License-Identifier: Apache-2.0
#include "text/lexical/lexical_encoder.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/atomic_file.h"
#include "platform/runtime/tensor.h"
#include "text/lexical/idf_table.h"
#include "text/lexical/text_parts.h"

namespace shoal::tokens {
namespace {

constexpr char kShippedTable[] = "data/encoder/lexical.idf";

std::unique_ptr<LexicalEncoder> Shipped() {
  auto encoder = LexicalEncoder::Create(kShippedTable);
  REQUIRE(encoder.ok());
  return *std::move(encoder);
}

std::vector<float> VectorOf(const LexicalEncoder& encoder, std::string_view text) {
  const auto tensor = encoder.Encode({&text, 1});
  REQUIRE(tensor.ok());
  REQUIRE(tensor->shape() == runtime::Shape{1, 512});
  std::vector<float> vector;
  const auto* bits = reinterpret_cast<const std::uint16_t*>(tensor->bytes().data());
  for (int i = 0; i < 512; ++i) vector.push_back(runtime::FromHalf(bits[i]));
  return vector;
}

float Dot(const std::vector<float>& a, const std::vector<float>& b) {
  float sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

float Similarity(const LexicalEncoder& encoder, std::string_view a, std::string_view b) {
  return Dot(VectorOf(encoder, a), VectorOf(encoder, b));
}

constexpr std::string_view kAssetTag =
    R"({"action":"","body":{"AssetTag":"<goal.AssetTag>"},"method":"PATCH","name":"System",)"
    R"("type":"#ComputerSystem.v1_16_0.ComputerSystem","uri":"/redfish/v1/Systems/1"})";
constexpr std::string_view kHostName =
    R"({"action":"","body":{"HostName":"<goal.HostName>"},"method":"PATCH","name":"System",)"
    R"("type":"#ComputerSystem.v1_16_0.ComputerSystem","uri":"/redfish/v1/Systems/1"})";

TEST_CASE("a text with words has a vector of length one, in any batch the same", "[lexical]") {
  const auto encoder = Shipped();
  const std::vector<std::string_view> texts = {kAssetTag, "power on", kHostName};
  const auto batch = encoder->Encode(texts);
  REQUIRE(batch.ok());
  const auto* bits = reinterpret_cast<const std::uint16_t*>(batch->bytes().data());
  for (std::size_t row = 0; row < texts.size(); ++row) {
    const std::vector<float> alone = VectorOf(*encoder, texts[row]);
    REQUIRE(std::abs(Dot(alone, alone) - 1) < 0.01F);
    for (std::size_t i = 0; i < 512; ++i) {
      REQUIRE(runtime::FromHalf(bits[row * 512 + i]) == alone[i]);
    }
  }
}

TEST_CASE("of a choice, function words count, and where they stand", "[lexical]") {
  const auto encoder = Shipped();
  const std::string from = "value digits after from before to";
  const std::string to = "value digits after to before from";
  const auto choice = [](const std::string& text) { return R"({"choice":")" + text + R"("})"; };
  const std::string by = "value digits after by before with";
  REQUIRE(Similarity(*encoder, from, to) > 0.999F);
  REQUIRE(Similarity(*encoder, from, by) > 0.999F);
  REQUIRE(Similarity(*encoder, choice(from), choice(to)) < 0.97F);
  REQUIRE(Similarity(*encoder, choice(from), choice(by)) < 0.8F);
  REQUIRE(VectorOf(*encoder, choice("digits value")) == VectorOf(*encoder, "digits value"));
}

TEST_CASE("of a goal it counts which of its values the words stand beside", "[lexical]") {
  const auto encoder = Shipped();
  const std::string sentence = "drop kim7, set omar17 to Operator";
  const auto goal = [&sentence](const std::string& around) {
    return R"({"around":[)" + around + R"(],"goal":")" + sentence + R"("})";
  };
  const std::string as_it_stands = goal(R"("drop","set","to Operator")");
  // The words are the same, each at a later value.
  const std::string moved = goal(R"("","drop","set","to Operator")");
  REQUIRE(Similarity(*encoder, as_it_stands, sentence) > 0.8F);
  REQUIRE(Similarity(*encoder, moved, sentence) > 0.8F);
  REQUIRE(Similarity(*encoder, as_it_stands, moved) < 0.75F);
  REQUIRE(Similarity(*encoder, as_it_stands, goal(R"("drop","set","Operator")")) > 0.999F);
  REQUIRE(VectorOf(*encoder, goal("")) == VectorOf(*encoder, sentence));
  // What is no goal is a resource's body.
  REQUIRE(VectorOf(*encoder, R"({"around":[7],"goal":"on"})") ==
          VectorOf(*encoder, R"({"around":["7"],"goal":"on","more":null})"));
}

TEST_CASE("an object with more than a choice is a resource's body", "[lexical]") {
  const auto encoder = Shipped();
  REQUIRE(Similarity(*encoder, R"({"choice":"set","more":"from"})",
                     R"({"choice":"set from","more":""})") > 0.9F);
  REQUIRE(VectorOf(*encoder, R"({"choice":1})") == VectorOf(*encoder, "choice 1"));
}

TEST_CASE("a text without words is the zero vector", "[lexical]") {
  const auto encoder = Shipped();
  const std::vector<float> vector = VectorOf(*encoder, " -- ");
  REQUIRE(Dot(vector, vector) == 0);
  REQUIRE(encoder->Encode({})->shape() == runtime::Shape{0, 512});
}

TEST_CASE("a sentence is nearest to the candidate that it names", "[lexical]") {
  const auto encoder = Shipped();
  constexpr std::string_view kGoal = "Set the asset tag of the server to RACK-7";
  REQUIRE(Similarity(*encoder, kGoal, kAssetTag) > 2 * Similarity(*encoder, kGoal, kHostName));
}

TEST_CASE("a candidate's URI counts less than its body", "[lexical]") {
  const auto encoder = Shipped();
  std::string elsewhere(kAssetTag);
  elsewhere.replace(elsewhere.find("Systems/1"), 9, "Blades/x9");
  REQUIRE(Similarity(*encoder, kAssetTag, elsewhere) > Similarity(*encoder, kAssetTag, kHostName));
  REQUIRE(Similarity(*encoder, kAssetTag, elsewhere) < 0.999F);
}

TEST_CASE("the state of a resource changes its body's vector", "[lexical]") {
  const auto encoder = Shipped();
  const float same = Similarity(*encoder, R"({"Name":"a","PowerState":"On"})",
                                R"({"Name":"a","PowerState":"Off"})");
  REQUIRE(same < 0.95F);
  REQUIRE(same > 0.2F);
}

TEST_CASE("a broken or huge text is encoded all the same", "[lexical]") {
  const auto encoder = Shipped();
  std::string deep = R"({"a":)" + std::string(100000, '[') + std::string(100000, ']') + "}";
  std::string words;
  for (int i = 0; i < 100000; ++i) words += "word" + std::to_string(i) + " ";
  for (const std::string& text :
       {std::string("{\"method\":"), deep, words, std::string("\xff\xfe{")}) {
    REQUIRE(VectorOf(*encoder, text).size() == 512);
  }
}

TEST_CASE("the vector of a known text under the empty table never changes", "[lexical]") {
  const std::string path = "/tmp/shoal-idf-" + std::to_string(::getpid());
  REQUIRE(runtime::WriteFileAtomically(path, IdfTable::Fit().Finish()).ok());
  const auto encoder = LexicalEncoder::Create(path);
  std::remove(path.c_str());
  REQUIRE(encoder.ok());
  REQUIRE((*encoder)->version() == "lexical-0e6c7cae08bda5c2");
  const auto tensor = (*encoder)->Encode({&kAssetTag, 1});
  std::uint64_t hash = 14695981039346656037U;  // FNV-1a
  for (const std::byte byte : tensor->bytes()) {
    hash = (hash ^ static_cast<std::uint64_t>(byte)) * 1099511628211U;
  }
  REQUIRE(hash == 14943595143516770934U);
}

TEST_CASE("another table is another version", "[lexical]") {
  REQUIRE(Shipped()->version() == Shipped()->version());
  REQUIRE(Shipped()->version() != "lexical-0e6c7cae08bda5c2");
}

TEST_CASE("what is no table is refused by name", "[lexical]") {
  const auto missing = LexicalEncoder::Create("data/encoder/none.idf");
  REQUIRE(absl::IsNotFound(missing.status()));
  const auto wrong = LexicalEncoder::Create("data/encoder/README.md");
  REQUIRE(absl::IsDataLoss(wrong.status()));
  REQUIRE(std::string(wrong.status().message()).find("README.md") != std::string::npos);
}

TEST_CASE("a rare feature weighs more than a common one, whatever the services' sizes", "[idf]") {
  IdfTable::Fit fit;
  fit.StartService();
  for (int i = 0; i < 1000; ++i) fit.AddDocument(std::vector<std::uint64_t>{1, 1});
  fit.StartService();
  fit.AddDocument(std::vector<std::uint64_t>{2, 3});
  fit.AddDocument(std::vector<std::uint64_t>{3});
  const auto table = IdfTable::Parse(fit.Finish());
  REQUIRE(table.ok());
  REQUIRE(table->Weight(2) > table->Weight(3));
  REQUIRE(table->Weight(1) == table->Weight(3));
  REQUIRE_FALSE(IdfTable::Parse("SHOALIDF").ok());
}

}  // namespace
}  // namespace shoal::tokens
