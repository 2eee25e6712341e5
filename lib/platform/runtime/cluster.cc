// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/cluster.h"

namespace shoal::runtime {

void ClusterOptions::Visit(Visitor& visitor) {
  visitor.Knob("inference", inference,
               {.help = "host:port, or unix:PATH on one machine, of each inference server"});
  visitor.Knob(
      "inference_file", inference_file,
      {.help = "file that names the inference servers in place of `inference`, one a line; "
               "actors read it again each second, so that servers can be added and removed"});
  visitor.Knob("replay", replay,
               {.help = "host:port, or unix:PATH on one machine, of each replay shard"});
  visitor.Knob("replay_file", replay_file,
               {.help = "file that names the replay shards in place of `replay`, one a line; it is "
                        "read again each second, so that shards can be added and removed"});
  visitor.Knob(
      "learner", learner,
      {.help =
           "host:port, or unix:PATH on one machine, where learner rank 0 publishes parameters"});
  visitor.Knob("mockserver", mockserver, {.help = "host:port of the mock server's HTTP front"});
  visitor.Knob("mockserver_control", mockserver_control,
               {.help = "host:port of the mock server's control API"});
  visitor.Knob("actors", actors, {.help = "actor processes", .min = 0, .max = 65536});
  visitor.Knob("inference_servers", inference_servers,
               {.help = "inference processes", .min = 1, .max = 4096});
  visitor.Knob("replay_shards", replay_shards, {.help = "replay processes", .min = 1, .max = 4096});
  visitor.Knob("learner_ranks", learner_ranks,
               {.help = "learner ranks on this node", .min = 1, .max = 64});
  visitor.Knob("learner_max_restarts", learner_max_restarts,
               {.help = "how often in a row several learner ranks are started again after one has "
                        "failed; a minute of work forgets earlier failures",
                .unit = "restarts",
                .min = 0,
                .max = 1e6});
}

void RunOptions::Visit(Visitor& visitor) {
  visitor.Knob("name", name, {.help = "the run's folder below directory"});
  visitor.Knob("directory", directory, {.help = "where runs are written"});
  visitor.Knob("seed", seed,
               {.help = "every random draw is a function of it", .min = 0, .max = 9e15});
  visitor.Knob("deterministic", deterministic,
               {.help = "same seed, same bits: rounds in lock step, one torch thread"});
  visitor.Knob("log_level", log_level,
               {.help = "least severe line that is written",
                .choices = {"trace", "debug", "info", "warn", "error"}});
}

}  // namespace shoal::runtime
