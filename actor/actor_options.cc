// SPDX-License-Identifier: Apache-2.0
#include "actor/actor_options.h"

namespace shoal::actor {

void ActorOptions::Visit(runtime::Visitor& visitor) {
  visitor.Knob("mode", mode,
               {.help = "play until stopped, or a number of episodes greedily, or record experts",
                .choices = {"train", "evaluate", "record"}});
  visitor.Knob("environments", environments,
               {.help = "environments of this process", .min = 1, .max = 1 << 20});
  visitor.Knob("threads", threads, {.help = "threads that play them", .min = 1, .max = 256});
  visitor.Knob("policy_id", policy_id,
               {.help = "policy that acts, of several that are trained side by side; its inference "
                        "servers are those of this cluster file",
                .min = 0,
                .max = 4294967295.0});
  visitor.Knob("block_size", block_size,
               {.help = "environments that share an inference server", .min = 1, .max = 1 << 20});
  visitor.Knob(
      "rows_per_message_min", rows_per_message_min,
      {.help = "rows with which a message leaves at once", .unit = "rows", .min = 1, .max = 65536});
  visitor.Knob("rows_per_message_max", rows_per_message_max,
               {.help = "rows in a message at most", .unit = "rows", .min = 1, .max = 65536});
  visitor.Knob(
      "max_wait_us", max_wait_us,
      {.help = "wait of the oldest row for others at most", .unit = "us", .min = 0, .max = 1e6});
  visitor.Knob(
      "learned_weight", learned_weight,
      {.help = "share of episodes of a learned pair or situation, of those of one that fails; "
               "1: turns",
       .min = 0.01,
       .max = 1});
  visitor.Knob("group_size", group_size,
               {.help = "training episodes, one after another, that have the same start (algorithm "
                        "grpo); 1: each has its own",
                .unit = "episodes",
                .min = 1,
                .max = 65536});
  visitor.Knob("metrics_listen", metrics_listen,
               {.help = "address of GET /metrics; empty: not served"});
  visitor.Knob("health_listen", health_listen,
               {.help = "address of the gRPC health service; empty: not served"});
  visitor.Knob("evaluate_episodes", evaluate_episodes,
               {.help = "episodes of each pair and policy, at most", .min = 1, .max = 1e6});
  visitor.Knob("evaluate_counted", evaluate_counted,
               {.help = "episodes of each pair and policy whose goal does not hold at their start, "
                        "after which the pair is done; 0: no such end",
                .min = 0,
                .max = 1e6});
  visitor.Knob("evaluate_seconds", evaluate_seconds,
               {.help = "time after which no further episodes are begun but the first of each pair "
                        "and policy; 0: no limit",
                .unit = "seconds",
                .min = 0,
                .max = 6e7});
  visitor.Knob("evaluate_output", evaluate_output, {.help = "file with a JSON line an episode"});
  visitor.Knob("evaluate_policies", evaluate_policies,
               {.help = "current, initial, uniform, similarity or EPOCH.STEP"});
  visitor.Knob(
      "evaluate_captures", evaluate_captures,
      {.help = "captures to evaluate on; empty: all but variants of captures that are listed"});
  visitor.Knob("evaluate_seed", evaluate_seed,
               {.help = "another number, other episodes", .min = 0, .max = 1e15});
  visitor.Knob("record_episodes", record_episodes,
               {.help = "episodes of each pair that an expert plays", .min = 1, .max = 1e6});
  visitor.Knob(
      "record_goal_episodes", record_goal_episodes,
      {.help = "the least episodes of each goal, which its captures share", .min = 0, .max = 1e6});
  visitor.Knob("record_output", record_output, {.help = "file of demonstrations"});
  visitor.Group("curriculum", curriculum);
  visitor.Group("hindsight", hindsight);
}

}  // namespace shoal::actor
