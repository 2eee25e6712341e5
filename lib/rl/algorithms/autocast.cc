// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/autocast.h"

#include <ATen/autocast_mode.h>

namespace shoal::algorithms {

Autocast::Autocast(at::Device device, model::Precision precision)
    : type_(device.type()), casts_(precision == model::Precision::kBfloat16) {
  if (!casts_) return;
  enabled_ = at::autocast::is_autocast_enabled(type_);
  number_ = at::autocast::get_autocast_dtype(type_);
  at::autocast::set_autocast_enabled(type_, true);
  at::autocast::set_autocast_dtype(type_, at::kBFloat16);
  at::autocast::increment_nesting();
}

Autocast::~Autocast() {
  if (!casts_) return;
  // Rounded parameters are kept until the outermost scope ends.
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  at::autocast::set_autocast_dtype(type_, number_);
  at::autocast::set_autocast_enabled(type_, enabled_);
}

}  // namespace shoal::algorithms
