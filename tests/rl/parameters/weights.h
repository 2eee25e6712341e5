// SPDX-License-Identifier: Apache-2.0
// Weight files for these tests.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "platform/runtime/random.h"
#include "rl/model/safetensors.h"
#include "rl/parameters/parameters_file.h"

namespace shoal::parameters {

// Owns what it views, unlike SafetensorsItem.
struct OwnedItem {
  std::string name;
  runtime::DType dtype;
  runtime::Shape shape;
  std::string bytes;
};

template <typename T>
constexpr runtime::DType DTypeOfValues() {
  if constexpr (std::is_same_v<T, std::uint16_t>) {
    return runtime::DType::kFloat16;
  } else {
    return runtime::DTypeOf<T>();
  }
}

// std::uint16_t stands for a half.
template <typename T>
OwnedItem Item(std::string name, runtime::Shape shape, const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {std::move(name), DTypeOfValues<T>(), std::move(shape),
          std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())};
}

inline std::string FileOf(const std::vector<OwnedItem>& items,
                          const model::Metadata& metadata = {}) {
  std::vector<model::SafetensorsItem> views;
  for (const OwnedItem& item : items) {
    views.push_back({item.name, {item.dtype, item.shape, std::as_bytes(std::span(item.bytes))}});
  }
  return model::WriteSafetensors(views, metadata);
}

struct WeightsOptions {
  std::uint64_t seed = 1;
  std::int64_t rows = 64;
  // Each weight has moved by up to so much from where the seed put it.
  float step = 0;
  std::string environment_steps = "1";
};

// A matrix of weights of a trained policy's size, and a bias.
inline std::string WeightsFile(const WeightsOptions& options) {
  constexpr std::int64_t kColumns = 128;
  runtime::Random start(options.seed);
  runtime::Random moves(options.seed + 1);
  const auto draw = [&](std::int64_t count) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& value : values) {
      value = static_cast<float>(start.Uniform() - 0.5) * 0.2F;
      value += static_cast<float>(moves.Uniform() - 0.5) * 2 * options.step;
    }
    return values;
  };
  return FileOf({Item("weight", {options.rows, kColumns}, draw(options.rows * kColumns)),
                 Item("bias", {kColumns}, draw(kColumns))},
                {{"environment_steps", options.environment_steps}});
}

// One tensor of `values`, and one of each other dtype whose first number is `number`.
inline std::string EveryDTypeFile(const std::vector<float>& values, int number) {
  const auto count = static_cast<std::int64_t>(values.size());
  std::vector<OwnedItem> items = {Item("values", {count}, values)};
  const std::vector<float> numbers = {static_cast<float>(number), 1, 0};
  for (const auto dtype : {runtime::DType::kFloat16, runtime::DType::kBFloat16,
                           runtime::DType::kFloat64, runtime::DType::kInt8, runtime::DType::kUInt8,
                           runtime::DType::kInt32, runtime::DType::kInt64, runtime::DType::kBool}) {
    std::string bytes(numbers.size() * runtime::SizeOf(dtype), '\0');
    runtime::FromFloats(numbers, dtype, std::as_writable_bytes(std::span(bytes)));
    items.push_back({"of_" + std::string(runtime::Name(dtype)), dtype, {3}, bytes});
  }
  return FileOf(items);
}

// A version whose file is `file`, with its SHA-256.
inline Parameters VersionOf(std::uint64_t step, std::string file) {
  std::string sha256 = Sha256(file);
  return {.version = {.epoch = 1, .step = step},
          .spec_digest = "spec",
          .encoder_version = "encoder",
          .bytes = std::make_shared<const std::string>(std::move(file)),
          .sha256 = std::move(sha256)};
}

// The version of so many steps in small steps from the start.
inline Parameters TrainedVersion(std::uint64_t step, std::int64_t rows = 64) {
  return VersionOf(step, WeightsFile({.rows = rows,
                                      .step = 1e-5F * static_cast<float>(step),
                                      .environment_steps = std::to_string(step)}));
}

}  // namespace shoal::parameters
