// SPDX-License-Identifier: Apache-2.0
#include "inference/client/act_client.h"
#include "platform/runtime/random.h"

namespace shoal::inference::client {

std::size_t ChooseServer(const std::vector<std::string>& addresses, std::uint64_t block) {
  std::size_t best = 0;
  double best_weight = -1;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const double weight = runtime::UniformAt(runtime::DeriveSeed(0, addresses[i]), block, 0, 0);
    if (weight > best_weight) {
      best = i;
      best_weight = weight;
    }
  }
  return best;
}

}  // namespace shoal::inference::client
