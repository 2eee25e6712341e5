// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/item_passes.h"

#include <ATen/ops/from_blob.h>

#include <utility>

#include "rl/algorithms/minibatch_items.h"
#include "rl/model/torch_device.h"

namespace shoal::algorithms {

ItemPasses::ItemPasses(std::vector<std::vector<std::int64_t>> orders, at::Device device)
    : host_(std::move(orders)) {
  std::vector<at::Tensor> borrowed;
  for (std::vector<std::int64_t>& order : host_) {
    borrowed.push_back(
        at::from_blob(order.data(), {static_cast<std::int64_t>(order.size())}, at::kLong));
  }
  device_ = model::CopyUp(borrowed, device);
}

IndexList ItemPasses::Part(std::size_t pass, std::size_t m, std::size_t n) const {
  if (host_.empty()) return {};
  const IndexList all{.host = host_[pass], .device = device_[pass]};
  return all.At(PartOf(all.host, m, n));
}

}  // namespace shoal::algorithms
