// SPDX-License-Identifier: Apache-2.0
// An encoder that makes a distinct vector of each text and records the texts.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "platform/content/content_key.h"
#include "platform/runtime/random.h"
#include "platform/runtime/tensor.h"
#include "text/lexical/text_encoder.h"

namespace shoal::embedding {

// The calls of one or several encoders. It must outlive them.
struct Calls {
  std::vector<std::vector<std::string>> texts;
  std::mutex mutex;

  std::size_t count() const {
    std::size_t sum = 0;
    for (const auto& call : texts) sum += call.size();
    return sum;
  }
};

class CountingEncoder final : public tokens::TextEncoder {
 public:
  CountingEncoder(Calls& calls, std::int64_t dimension = 16, std::string version = "counting")
      : calls_(calls), dimension_(dimension), version_(std::move(version)) {}

  const std::string& version() const override { return version_; }
  std::int64_t dimension() const override { return dimension_; }
  absl::StatusOr<runtime::Tensor> Encode(std::span<const std::string_view> texts) const override {
    {
      const std::lock_guard lock(calls_.mutex);
      calls_.texts.emplace_back(texts.begin(), texts.end());
    }
    if (fails) return runtime::Internal("made to fail");
    runtime::Tensor tensor(runtime::DType::kFloat16, {static_cast<std::int64_t>(texts.size()),
                                                      dimension_ + (wrong_shape ? 1 : 0)});
    if (wrong_shape) return tensor;
    auto* out = reinterpret_cast<std::uint16_t*>(tensor.mutable_bytes().data());
    for (const std::string_view text : texts) {
      for (const std::uint16_t half : VectorOf(text)) *out++ = half;
    }
    return tensor;
  }

  std::vector<std::uint16_t> VectorOf(std::string_view text) const {
    const auto size = static_cast<std::size_t>(dimension_);
    if (text.empty()) return std::vector<std::uint16_t>(size);
    std::uint64_t seed = 0;
    std::memcpy(&seed, content::KeyOf(text).bytes.data(), sizeof(seed));
    runtime::Random random(seed, 1);
    std::vector<double> values(size);
    double sum = 0;
    for (double& value : values) {
      value = random.Normal();
      sum += value * value;
    }
    std::vector<std::uint16_t> halves;
    for (const double value : values) {
      halves.push_back(runtime::ToHalf(static_cast<float>(value / std::sqrt(sum))));
    }
    return halves;
  }

  bool fails = false;
  bool wrong_shape = false;

 private:
  Calls& calls_;
  const std::int64_t dimension_;
  const std::string version_;
};

// Returns row `row` of an encoder's result.
inline std::vector<std::uint16_t> RowOf(const runtime::Tensor& tensor, std::size_t row) {
  const auto size = static_cast<std::size_t>(tensor.shape()[1]);
  const auto* begin = reinterpret_cast<const std::uint16_t*>(tensor.bytes().data()) + row * size;
  return {begin, begin + size};
}

inline double Dot(const std::vector<std::uint16_t>& a, const std::vector<std::uint16_t>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum +=
        static_cast<double>(runtime::FromHalf(a[i])) * static_cast<double>(runtime::FromHalf(b[i]));
  }
  return sum;
}

inline runtime::Tensor EncodeAll(const tokens::TextEncoder& encoder,
                                 const std::vector<std::string>& texts) {
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  return encoder.Encode(views).value();
}

}  // namespace shoal::embedding
