// SPDX-License-Identifier: Apache-2.0
#include "text/language/tensor_shards.h"

#include <algorithm>

#include "platform/runtime/check.h"
#include "text/language/gpt2_layout.h"

namespace shoal::language {
namespace {

// Returns into how many stretches, of which each rank has a part, a parameter of blocks falls: a
// row of each of queries, keys and values is one, and so is a matrix that is divided by rows.
std::int64_t RunsOf(std::string_view name, std::int64_t width) {
  if (name.ends_with("attn.c_attn.weight")) return 3 * width;
  if (name.ends_with("attn.c_attn.bias")) return 3;
  if (name.ends_with("mlp.c_fc.weight")) return width;
  if (name.ends_with("mlp.c_fc.bias") || name.ends_with("c_proj.weight")) return 1;
  return 0;
}

}  // namespace

TensorShards::TensorShards(const Gpt2Config& config, std::int64_t ranks)
    : ranks_(ranks), whole_(Gpt2Layout(config)), shard_(Gpt2Layout(config, ranks)) {
  SHOAL_CHECK(ranks >= 1 && config.heads % ranks == 0);
  for (const model::ParameterInfo& info : whole_.parameters) {
    runs_.push_back(RunsOf(info.name, config.width));
  }
}

template <typename Visit>
void TensorShards::ForEachRun(std::size_t parameter, std::int64_t rank, const Visit& visit) const {
  const std::int64_t part = shard_.parameters[parameter].size;
  const std::int64_t runs = std::max<std::int64_t>(1, runs_[parameter]);
  const std::int64_t length = part / runs;
  const std::int64_t first = replicated(parameter) ? 0 : rank * length;
  const std::int64_t stretch = replicated(parameter) ? part : length * ranks_;
  for (std::int64_t run = 0; run < runs; ++run) {
    visit(whole_.parameters[parameter].offset + run * stretch + first, run * length, length);
  }
}

std::vector<float> TensorShards::ShardOf(std::span<const float> whole, std::int64_t rank) const {
  SHOAL_CHECK(static_cast<std::int64_t>(whole.size()) == whole_.total);
  std::vector<float> shard(static_cast<std::size_t>(shard_.total));
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    const std::int64_t offset = shard_.parameters[i].offset;
    ForEachRun(i, rank, [&](std::int64_t from, std::int64_t to, std::int64_t length) {
      std::copy_n(whole.begin() + from, length, shard.begin() + offset + to);
    });
  }
  return shard;
}

void TensorShards::Place(std::size_t parameter, std::int64_t rank, std::span<const float> part,
                         std::span<float> whole) const {
  ForEachRun(parameter, rank, [&](std::int64_t to, std::int64_t from, std::int64_t length) {
    std::copy_n(part.begin() + from, length, whole.begin() + to);
  });
}

}  // namespace shoal::language
