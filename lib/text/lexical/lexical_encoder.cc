// SPDX-License-Identifier: Apache-2.0
#include "text/lexical/lexical_encoder.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

#include "platform/runtime/atomic_file.h"
#include "text/lexical/idf_table.h"
#include "text/lexical/lexical_features.h"
#include "text/lexical/text_parts.h"

namespace shoal::tokens {
namespace {

// A part of the version. Raise it whenever a text that somebody may have encoded would get another
// vector, as vectors are stored and adapters are trained on them.
constexpr std::uint64_t kAlgorithm = 1;
constexpr int kBitsPerPlace = 10;  // 9 for the dimension, 1 for the sign
constexpr int kPlacesPerFeature = 6;
constexpr std::size_t kMaxTableBytes = std::size_t{1} << 20;

using Vector = std::array<float, LexicalEncoder::kDimension>;

// The last step of splitmix64. It spreads a hash over all bits, independently of IdfTable's bucket.
std::uint64_t Mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

void Project(const Feature& feature, float weight, Vector& vector) {
  std::uint64_t bits = Mix(feature.hash);
  for (int place = 0; place < kPlacesPerFeature; ++place, bits >>= kBitsPerPlace) {
    const float sign = (bits & 1) != 0 ? -1.0F : 1.0F;
    vector[(bits >> 1) % LexicalEncoder::kDimension] += sign * weight;
  }
}

float Norm(const Vector& vector) {
  float sum = 0;
  for (const float x : vector) sum += x * x;
  return std::sqrt(sum);
}

Vector PartVector(const Part& part, const IdfTable& idf) {
  Vector vector{};
  for (const Feature& feature : LexicalFeatures(part)) {
    Project(feature, feature.weight * idf.Weight(feature.hash), vector);
  }
  return vector;
}

Vector TextVector(std::string_view text, const IdfTable& idf) {
  Vector sum{};
  for (const Part& part : SplitIntoParts(text, LexicalEncoder::kMaxWords)) {
    const Vector vector = PartVector(part, idf);
    const float norm = Norm(vector);
    if (norm == 0) continue;
    const float scale = part.weight / norm;
    for (std::size_t i = 0; i < vector.size(); ++i) sum[i] += scale * vector[i];
  }
  return sum;
}

std::string VersionOf(std::string_view table) {
  char text[32];
  std::snprintf(text, sizeof(text), "lexical-%016llx",
                static_cast<unsigned long long>(
                    XXH3_64bits_withSeed(table.data(), table.size(), kAlgorithm)));
  return text;
}

}  // namespace

struct LexicalEncoder::State {
  IdfTable idf;
  std::string version;
};

LexicalEncoder::LexicalEncoder(std::unique_ptr<const State> state) : state_(std::move(state)) {}
LexicalEncoder::~LexicalEncoder() = default;

absl::StatusOr<std::unique_ptr<LexicalEncoder>> LexicalEncoder::Create(
    const std::string& idf_table_path) {
  SHOAL_ASSIGN_OR_RETURN(const std::string bytes,
                         runtime::ReadFile(idf_table_path, kMaxTableBytes));
  auto idf = IdfTable::Parse(bytes);
  if (!idf.ok()) return runtime::Annotate(idf.status(), idf_table_path);
  return std::unique_ptr<LexicalEncoder>(
      new LexicalEncoder(std::make_unique<const State>(State{*std::move(idf), VersionOf(bytes)})));
}

const std::string& LexicalEncoder::version() const { return state_->version; }

absl::StatusOr<runtime::Tensor> LexicalEncoder::Encode(
    std::span<const std::string_view> texts) const {
  runtime::Tensor tensor(runtime::DType::kFloat16,
                         {static_cast<std::int64_t>(texts.size()), kDimension});
  auto* out = reinterpret_cast<std::uint16_t*>(tensor.mutable_bytes().data());
  for (const std::string_view text : texts) {
    const Vector vector = TextVector(text, state_->idf);
    const float norm = Norm(vector);
    for (const float x : vector) *out++ = runtime::ToHalf(norm == 0 ? 0 : x / norm);
  }
  return tensor;
}

}  // namespace shoal::tokens
