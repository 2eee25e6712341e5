// SPDX-License-Identifier: Apache-2.0
#include "text/language/vocabulary_resize.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "platform/runtime/random.h"
#include "text/language/gpt2_layout.h"

namespace shoal::language {
namespace {

constexpr double kNoise = 0.1;

struct Column {
  double mean = 0;
  double deviation = 0;
};

std::vector<Column> Columns(std::span<const float> rows, std::size_t width) {
  std::vector<Column> columns(width);
  const auto count = static_cast<double>(rows.size() / width);
  for (std::size_t i = 0; i < rows.size(); ++i) columns[i % width].mean += rows[i] / count;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double difference = rows[i] - columns[i % width].mean;
    columns[i % width].deviation += difference * difference / count;
  }
  for (Column& column : columns) column.deviation = std::sqrt(column.deviation);
  return columns;
}

std::span<float> Of(const model::ParameterInfo& info, std::span<float> flat) {
  return flat.subspan(static_cast<std::size_t>(info.offset), static_cast<std::size_t>(info.size));
}

}  // namespace

absl::StatusOr<Gpt2Parameters> ResizeVocabulary(const Gpt2Parameters& parameters,
                                                std::int64_t vocabulary_size, std::uint64_t seed) {
  if (vocabulary_size < parameters.config.vocabulary_size) {
    return runtime::InvalidArgument("a vocabulary of " +
                                    std::to_string(parameters.config.vocabulary_size) +
                                    " cannot shrink to " + std::to_string(vocabulary_size));
  }
  Gpt2Parameters resized{parameters.config, {}};
  resized.config.vocabulary_size = vocabulary_size;
  SHOAL_RETURN_IF_ERROR(resized.config.Validate());
  const auto from = Gpt2Layout(parameters.config);
  const auto to = Gpt2Layout(resized.config);
  resized.flat.assign(static_cast<std::size_t>(to.total), 0.0F);
  for (std::size_t i = 0; i < from.parameters.size(); ++i) {
    const model::ParameterInfo& info = from.parameters[i];
    std::copy_n(parameters.flat.begin() + info.offset, info.size,
                resized.flat.begin() + to.parameters[i].offset);
  }
  const auto width = static_cast<std::size_t>(parameters.config.width);
  const auto old_size = static_cast<std::size_t>(from.parameters.front().size);
  const std::span<float> embedding = Of(to.parameters.front(), resized.flat);
  const std::vector<Column> columns = Columns(embedding.first(old_size), width);
  runtime::Random random(runtime::DeriveSeed(seed, "vocabulary resize"));
  for (std::size_t i = old_size; i < embedding.size(); ++i) {
    const Column& column = columns[i % width];
    embedding[i] = static_cast<float>(column.mean + kNoise * column.deviation * random.Normal());
  }
  return resized;
}

}  // namespace shoal::language
