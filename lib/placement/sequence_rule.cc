// SPDX-License-Identifier: Apache-2.0
#include "placement/sequence_rule.h"

namespace shoal::placement {

void SequenceRule::Visit(runtime::Visitor& visitor) {
  visitor.Knob("gradient_every", gradient_every,
               {.help = "placements between two updates by the policy gradient",
                .unit = "placements",
                .min = 2,
                .max = 1000});
  visitor.Knob("learning_rate", learning_rate,
               {.help = "size of a step of Adam", .min = 1e-9, .max = 10});
  visitor.Knob(
      "hidden", hidden,
      {.help = "numbers of a state of the encoder and of the decoder", .min = 1, .max = 1024});
  visitor.Knob("entropy", entropy,
               {.help = "weight of the policy's entropy beside the reward, for each group",
                .min = 0,
                .max = 100});
}

}  // namespace shoal::placement
