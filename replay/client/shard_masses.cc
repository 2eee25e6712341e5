// SPDX-License-Identifier: Apache-2.0
#include "replay/client/shard_masses.h"

#include <algorithm>

#include "platform/runtime/check.h"

namespace shoal::replay::client {

Mass ShardMasses::Total() const {
  Mass total;
  for (const std::optional<Mass>& mass : masses_) {
    if (!mass || mass->size == 0) continue;
    total.size += mass->size;
    total.sum += mass->sum;
    if (mass->least > 0 && (total.least <= 0 || mass->least < total.least)) {
      total.least = mass->least;
    }
  }
  return total;
}

double ShardMasses::Share(std::size_t shard, const Mass& total) const {
  const std::optional<Mass>& mass = masses_[shard];
  if (!mass || mass->size == 0) return 0;
  if (total.sum > 0) return mass->sum / total.sum;
  return static_cast<double>(mass->size) / static_cast<double>(total.size);
}

std::size_t ShardMasses::Draw() {
  const Mass total = Total();
  SHOAL_CHECK(total.size > 0);
  double place = random_.Uniform();
  std::size_t chosen = 0;
  for (std::size_t shard = 0; shard < masses_.size(); ++shard) {
    const double share = Share(shard, total);
    if (!(share > 0)) continue;
    // Rounding may leave a little after the last share, which belongs to it.
    chosen = shard;
    place -= share;
    if (place < 0) break;
  }
  return chosen;
}

ShardMasses::Odds ShardMasses::Of(std::size_t shard, double probability) const {
  const Mass total = Total();
  Odds odds{.probability = probability, .least_probability = probability, .size = total.size};
  // A shard that gave an item may have said since that it has none.
  if (total.size == 0) return odds;
  if (const double share = Share(shard, total); share > 0) odds.probability *= share;
  odds.least_probability = total.sum > 0 ? std::min(odds.probability, total.least / total.sum)
                                         : 1 / static_cast<double>(total.size);
  return odds;
}

}  // namespace shoal::replay::client
