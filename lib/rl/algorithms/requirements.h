// SPDX-License-Identifier: Apache-2.0
// What an algorithm needs of its data and of the trainer.
#pragma once

#include <cstdint>

namespace shoal::algorithms {

struct Requirements {
  // Epochs over a batch in one update, and gradient steps (minibatches) in each epoch.
  std::int64_t update_epochs = 1;
  std::int64_t minibatches = 1;
  // Whether targets depend on the current policy. If so, the policy is evaluated before every epoch
  // on all rows of the batch, bootstrap rows included. Otherwise targets are estimated once for
  // each update from what the behaviour policy recorded.
  bool current_policy = false;
  // Whether advantages have a scale of their own, so that they are never normalised.
  bool keeps_advantages = false;
  // Whether it may train on unrolls of any policy, as often as replay gives them out. Otherwise
  // only on those of the present epoch, once each.
  bool off_policy = false;
};

}  // namespace shoal::algorithms
