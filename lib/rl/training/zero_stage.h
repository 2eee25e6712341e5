// SPDX-License-Identifier: Apache-2.0
// What ranks that train together divide among them (Rajbhandari et al., "ZeRO: Memory Optimizations
// Toward Training Trillion Parameter Models", 2020).
#pragma once

#include <cstdint>

namespace shoal::training {

enum class ZeroStage : std::uint8_t {
  kNone = 0,        // nothing: every rank has all
  kOptimiser = 1,   // the optimiser's moments
  kGradients = 2,   // and the gradients that a step reads
  kParameters = 3,  // and the parameters, and all gradients but those of a few units at a time
};

}  // namespace shoal::training
