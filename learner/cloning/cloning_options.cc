// SPDX-License-Identifier: Apache-2.0
#include "learner/cloning/cloning_options.h"

namespace shoal::learner {

void CloningOptions::Visit(runtime::Visitor& visitor) {
  visitor.Knob("demonstrations", demonstrations,
               {.help = "file that `shoal demonstrations record` wrote; empty: none"});
  visitor.Knob("demonstration_unrolls", demonstration_unrolls,
               {.help = "demonstrations in a cloning or update, all ranks together",
                .unit = "unrolls",
                .min = 1,
                .max = 1 << 20});
  visitor.Knob("demonstration_updates", demonstration_updates,
               {.help = "clonings of demonstrations before the first publication",
                .unit = "updates",
                .min = 0,
                .max = 1e9});
  visitor.Knob("demonstration_learning_rate", demonstration_learning_rate,
               {.help = "Adam's rate in them", .min = 0, .max = 1});
  visitor.Knob("demonstration_coefficient", demonstration_coefficient,
               {.help = "weight of cloning in the first update; it falls to 0 in a straight line",
                .min = 0,
                .max = 1000});
  visitor.Knob(
      "demonstration_anneal_updates", demonstration_anneal_updates,
      {.help = "update at which that weight is 0", .unit = "updates", .min = 1, .max = 1e9});
  visitor.Knob("demonstration_ratio", demonstration_ratio,
               {.help = "share of an update's unrolls that are demonstrations, off policy",
                .min = 0,
                .max = 1});
  visitor.Knob(
      "demonstration_length", demonstration_length,
      {.help = "rows of each of them; 0: whole episodes", .unit = "rows", .min = 0, .max = 65536});
  visitor.Knob("demonstration_priority_exponent", demonstration_priority_exponent,
               {.help = "exponent of their priorities; 0: all are alike", .min = 0, .max = 4});
  encoder.Visit(visitor);
  embedding_cache.Visit(visitor);
}

}  // namespace shoal::learner
