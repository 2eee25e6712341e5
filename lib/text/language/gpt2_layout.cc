// SPDX-License-Identifier: Apache-2.0
#include "text/language/gpt2_layout.h"

#include <cmath>

namespace shoal::language {
namespace {

using model::ParameterLayout;
using Start = model::ParameterInfo::Start;

constexpr double kDeviation = 0.02;

void AddNorm(ParameterLayout& layout, const std::string& name, std::int64_t width) {
  layout.Add(name + ".weight", {width}, Start::kOne, 0);
  layout.Add(name + ".bias", {width}, Start::kZero, 0);
}

void AddLinear(ParameterLayout& layout, const std::string& name, std::int64_t in, std::int64_t out,
               double deviation) {
  layout.Add(name + ".weight", {in, out}, Start::kNormal, deviation);
  layout.Add(name + ".bias", {out}, Start::kZero, 0);
}

}  // namespace

std::string BlockPrefix(std::int64_t block) {
  return std::string(kPrefix) + "h." + std::to_string(block) + ".";
}

ParameterLayout Gpt2Layout(const Gpt2Config& config, std::int64_t tensor_ranks) {
  const std::int64_t width = config.width;
  // The columns or rows of a matrix that a rank has.
  const std::int64_t part = width / tensor_ranks;
  const double joining = kDeviation / std::sqrt(2.0 * static_cast<double>(config.layers));
  const std::string prefix(kPrefix);
  ParameterLayout layout;
  layout.Add(prefix + "wte.weight", {config.vocabulary_size, width}, Start::kNormal, kDeviation);
  layout.Add(prefix + "wpe.weight", {config.positions, width}, Start::kNormal, kDeviation);
  for (std::int64_t block = 0; block < config.layers; ++block) {
    const std::string name = BlockPrefix(block);
    AddNorm(layout, name + "ln_1", width);
    AddLinear(layout, name + "attn.c_attn", width, 3 * part, kDeviation);
    AddLinear(layout, name + "attn.c_proj", part, width, joining);
    AddNorm(layout, name + "ln_2", width);
    AddLinear(layout, name + "mlp.c_fc", width, 4 * part, kDeviation);
    AddLinear(layout, name + "mlp.c_proj", 4 * part, width, joining);
  }
  AddNorm(layout, prefix + "ln_f", width);
  layout.trainable = layout.total;
  return layout;
}

std::vector<std::int64_t> Gpt2Units(const Gpt2Config& config, std::int64_t tensor_ranks) {
  const ParameterLayout layout = Gpt2Layout(config, tensor_ranks);
  std::vector<std::int64_t> units;
  std::int64_t begin = 0;
  const auto end_at = [&](std::int64_t end) {
    units.push_back(end - begin);
    begin = end;
  };
  for (std::int64_t block = 0; block < config.layers; ++block) {
    end_at(layout.Find(BlockPrefix(block) + "ln_1.weight")->offset);
  }
  end_at(layout.Find(std::string(kPrefix) + "ln_f.weight")->offset);
  end_at(layout.total);
  return units;
}

}  // namespace shoal::language
