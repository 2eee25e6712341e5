// SPDX-License-Identifier: Apache-2.0
#include "placement/sequence_rule.h"

#include <set>
#include <string>

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

absl::Status CheckSequence(const SequenceRule& rule, const Graph& graph) {
  // 2 GB of numbers that the policy keeps until their gradient has been computed: for each group of
  // a placement the weights of the attention, and some thirty states.
  constexpr double kMostNumbers = 5e8;
  constexpr double kStates = 32;
  const std::size_t groups = graph.groups.size();
  if (groups > kMostSequenceGroups) {
    return runtime::InvalidArgument("the graph has " + std::to_string(groups) +
                                    " groups, and placement-reinforce reads at most " +
                                    std::to_string(kMostSequenceGroups));
  }
  const auto count = static_cast<double>(groups);
  const auto placements = static_cast<double>(rule.gradient_every);
  if (placements * count * (count + kStates * static_cast<double>(rule.hidden)) > kMostNumbers) {
    return runtime::InvalidArgument(
        "placement-reinforce would need more than 2 GB for " + std::to_string(rule.gradient_every) +
        " placements of " + std::to_string(groups) + " groups with states of " +
        std::to_string(rule.hidden) + " numbers: lower its gradient_every or hidden");
  }
  std::set<std::string> kinds;
  for (const Operation& operation : graph.operations) kinds.insert(operation.kind);
  if (count * static_cast<double>(kinds.size()) > kMostNumbers / kStates) {
    return runtime::InvalidArgument("the graph has " + std::to_string(kinds.size()) +
                                    " kinds of operations in " + std::to_string(groups) +
                                    " groups, more than placement-reinforce can read");
  }
  return absl::OkStatus();
}

}  // namespace shoal::placement
