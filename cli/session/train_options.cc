// SPDX-License-Identifier: Apache-2.0
#include "cli/session/train_options.h"

namespace shoal::cli {

void TrainOptions::Visit(runtime::Visitor& visitor) {
  visitor.Knob(
      "minutes", minutes,
      {.help = "training time; 0: until stopped", .unit = "minutes", .min = 0, .max = 1e6});
  visitor.Knob("demonstration_episodes", demonstration_episodes,
               {.help = "of each goal and capture, played by experts for the learner; 0: none",
                .unit = "episodes",
                .min = 0,
                .max = 1e6});
  visitor.Knob("demonstration_goal_episodes", demonstration_goal_episodes,
               {.help = "the least of each goal, which its captures share, where there are any",
                .unit = "episodes",
                .min = 0,
                .max = 1e6});
  visitor.Knob("max_steps", max_steps,
               {.help = "environment steps after which training ends; 0: no limit",
                .unit = "steps",
                .min = 0,
                .max = 1e15});
  visitor.Knob("evaluate_every_seconds", evaluate_every_seconds,
               {.help = "between greedy evaluations while training; 0: none",
                .unit = "seconds",
                .min = 0,
                .max = 1e6});
  visitor.Knob("evaluate_every_steps", evaluate_every_steps,
               {.help = "between greedy evaluations, in place of seconds; 0: they go by seconds",
                .unit = "steps",
                .min = 0,
                .max = 1e15});
  visitor.Knob("evaluate_episodes", evaluate_episodes,
               {.help = "of each goal and capture, while training",
                .unit = "episodes",
                .min = 1,
                .max = 100000});
  visitor.Knob("final_episodes", final_episodes,
               {.help = "of each goal and capture, at the end, as far as its time allows",
                .unit = "episodes",
                .min = 1,
                .max = 100000});
  visitor.Knob("final_minutes", final_minutes,
               {.help = "time for the evaluation at the end; 0: as long as it takes",
                .unit = "minutes",
                .min = 0,
                .max = 1e6});
  visitor.Knob("baselines", baselines,
               {.help = "policies judged at the end beside the learned one",
                .choices = {"initial", "uniform", "similarity"}});
  visitor.Knob("stop_evaluations", stop_evaluations,
               {.help = "greedy evaluations in a row that must reach the bars to end early",
                .min = 1,
                .max = 1000});
  visitor.Knob("stop_confirm_episodes", stop_confirm_episodes,
               {.help = "fresh ones that must then confirm the bars to end early; 0: none",
                .unit = "episodes",
                .min = 0,
                .max = 100000});
  visitor.Knob("stop_score", stop_score,
               {.help = "bar: success (goals) or mean return; 1e9: never end early",
                .min = -1e9,
                .max = 1e9});
  visitor.Knob("stop_pair_success", stop_pair_success,
               {.help = "bar: success of each pair (goals); 0: any", .min = 0, .max = 1});
  visitor.Knob("stop_mutations", stop_mutations,
               {.help = "bar: mutations over the least possible; 0: any", .min = 0, .max = 1000});
  visitor.Knob(
      "stop_steps", stop_steps,
      {.help = "bar: steps over the least possible mutations; 0: any", .min = 0, .max = 1000});
  visitor.Knob("record_every_seconds", record_every_seconds,
               {.help = "between rows of metrics.jsonl and of the event file",
                .unit = "seconds",
                .min = 0.1,
                .max = 3600});
  visitor.Knob("status_every_seconds", status_every_seconds,
               {.help = "between status lines where standard error is no terminal",
                .unit = "seconds",
                .min = 0.1,
                .max = 3600});
  visitor.Knob("metrics", metrics, {.help = "host:port of further metrics endpoints to read"});
}

}  // namespace shoal::cli
