// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/exploration_options.h"

namespace shoal::actor {

void ExplorationOptions::Visit(runtime::Visitor& visitor) {
  visitor.Knob("members", members,
               {.help = "policies of the family that explores, as algorithm.members; 0: novelty is "
                        "not rewarded",
                .min = 0,
                .max = 256});
  visitor.Knob(
      "bandit_window", bandit_window,
      {.help = "the policy of an episode is chosen by the task's returns of this many last "
               "episodes of the environment; 0: policies are drawn alike",
       .unit = "episodes",
       .min = 0,
       .max = 100'000});
  visitor.Knob("bandit_width", bandit_width,
               {.help = "how far the bound of a policy that played once in the window lies above "
                        "its mean return",
                .min = 0,
                .max = 1e9});
  visitor.Knob(
      "bandit_epsilon", bandit_epsilon,
      {.help = "share of episodes whose policies are drawn all the same", .min = 0, .max = 1});
  visitor.Knob(
      "greatest_beta", greatest_beta,
      {.help = "factor on novelty of the policy that explores most", .min = 0, .max = 1000});
  visitor.Knob("split_rewards", split_rewards,
               {.help = "novelty is told apart from the task's reward, for policy.split_values"});
  visitor.Knob("embedding", embedding,
               {.help = "what observations of an episode are compared by: themselves, random "
                        "projections of them, or what a network learns that tells actions from "
                        "what they led from and to",
                .choices = {"observation", "random", "learned"}});
  visitor.Knob("embedding_size", embedding_size,
               {.help = "length of embeddings that are not the observations themselves, at least 1 "
                        "for these",
                .min = 0,
                .max = 4096});
  visitor.Knob(
      "embedding_rate", embedding_rate,
      {.help = "learned embeddings: factor on steps of the gradient, which are relative to "
               "the squared lengths of what the layers see",
       .min = 0,
       .max = 10});
  visitor.Knob("embedding_minibatch", embedding_minibatch,
               {.help = "learned embeddings: remembered transitions that each step of an "
                        "environment trains on",
                .min = 1,
                .max = 1024});
  visitor.Knob("embedding_memory", embedding_memory,
               {.help = "learned embeddings: transitions that an environment remembers, the last "
                        "ones",
                .min = 1,
                .max = 1'000'000});
  visitor.Knob("neighbours", neighbours,
               {.help = "nearest observations of the episode that make an observation's novelty",
                .min = 1,
                .max = 1000});
  visitor.Knob("memory", memory,
               {.help = "observations of an episode that are remembered, the last ones",
                .min = 1,
                .max = 1'000'000});
  visitor.Knob("life_long_limit", life_long_limit,
               {.help = "the most by which life-long novelty multiplies an episode's; 1: it does "
                        "not count",
                .min = 1,
                .max = 1000});
  visitor.Knob("life_long_rate", life_long_rate,
               {.help = "how fast what was seen stops being new: about the share of its error that "
                        "an observation takes away",
                .min = 0,
                .max = 1});
}

}  // namespace shoal::actor
