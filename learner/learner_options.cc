// SPDX-License-Identifier: Apache-2.0
#include "learner/learner_options.h"

#include <chrono>

namespace shoal::learner {
namespace {

constexpr double kMany = 1e9;

}  // namespace

void LearnerOptions::Visit(runtime::Visitor& visitor) {
  visitor.Knob("listen", listen,
               {.help = "host:port of rank 0's parameters and health services; empty: "
                        "cluster.learner, or a free port of 127.0.0.1"});
  visitor.Knob("metrics_listen", metrics_listen,
               {.help = "host:port of rank 0's Prometheus endpoint; empty: none"});
  visitor.Knob("health_listen", health_listen,
               {.help = "host:port of the gRPC health service of each node's first rank, which "
                        "serves once its start is over; empty: none"});
  visitor.Knob("policy_id", policy_id,
               {.help = "policy that is trained, of several that are trained side by side; unrolls "
                        "of another are dropped",
                .min = 0,
                .max = 4294967295.0});
  visitor.Knob("table", table, {.help = "replay table to sample from"});
  visitor.Knob(
      "round_unrolls", round_unrolls,
      {.help = "unrolls in a round, all ranks together, which each take an equal part, or one more "
               "or less; at least one each",
       .unit = "unrolls",
       .min = 1,
       .max = 1 << 20});
  visitor.Knob("round_timeout_ms", round_timeout_ms,
               {.help = "a round goes on with half of its unrolls after this time; in "
                        "deterministic mode it only says who is missing",
                .unit = "ms",
                .min = 10,
                .max = kMany});
  visitor.Knob("max_lag", max_lag,
               {.help = "publications that an unroll may be behind; 0: any number",
                .unit = "publications",
                .min = 0,
                .max = kMany});
  visitor.Knob("burn_in", burn_in,
               {.help = "first rows of an unroll without weight, unless they are new and an "
                        "episode begins in them",
                .unit = "rows",
                .min = 0,
                .max = 65536});
  visitor.Knob("chunk_cache_bytes", chunk_cache_bytes,
               {.help = "chunks of unrolls that overlap, and what they unpack to",
                .unit = "bytes",
                .min = 0,
                .max = 1e12});
  visitor.Knob("publish_every_updates", publish_every_updates,
               {.help = "updates between publications of parameters; in deterministic mode, where "
                        "a table is sampled, `shoal train` sets it to those that a round earns",
                .unit = "updates",
                .min = 1,
                .max = kMany});
  visitor.Knob("publication_encoding", publication_encoding,
               {.help = "float16 rounds published weights, delta sends an inference server what "
                        "differs from the version that it holds, exactly; float16_delta does both",
                .choices = {"float32", "float16", "delta", "float16_delta"}});
  visitor.Knob("checkpoint_every_updates", checkpoint_every_updates,
               {.help = "updates between checkpoints; learner.keep_best_checkpoints adds some",
                .unit = "updates",
                .min = 1,
                .max = kMany});
  visitor.Knob("checkpoint_every_seconds", checkpoint_every_seconds,
               {.help = "time between checkpoints, where updates are slow; "
                        "learner.keep_best_checkpoints adds some",
                .unit = "seconds",
                .min = 0.1,
                .max = kMany});
  visitor.Knob("keep_checkpoints", keep_checkpoints,
               {.help = "newest checkpoints kept; a rollback goes back no further than the oldest",
                .unit = "checkpoints",
                .min = 1,
                .max = 10000});
  visitor.Knob(
      "keep_best_checkpoints", keep_best_checkpoints,
      {.help = "checkpoints with the highest returns that are kept besides the newest; with any, "
               "evaluations have checkpoints saved, too",
       .unit = "checkpoints",
       .min = 0,
       .max = 10000});
  visitor.Knob("keep_parameters", keep_parameters,
               {.help = "newest parameter files kept, besides the initial one",
                .unit = "files",
                .min = 1,
                .max = 10000});
  visitor.Knob("recent_parameters_bytes", recent_parameters_bytes,
               {.help = "memory for recent parameters, besides the newest, that are served without "
                        "reading a file",
                .unit = "bytes",
                .min = 0});
  visitor.Knob("updates", updates,
               {.help = "end by itself after this many updates, earlier runs' included; 0: never",
                .unit = "updates",
                .min = 0,
                .max = kMany});
  visitor.Knob(
      "start_from", start_from,
      {.help =
           "folder of another run, or of one of its checkpoints; a run without a checkpoint starts "
           "from that run's newest one, or from that one"});
  visitor.Knob("fit_parameters", fit_parameters,
               {.help = "a checkpoint of another [policy] keeps what fits, in place of an error"});
  visitor.Knob("device", device,
               {.help = "where updates compute: auto, cpu, cuda or cuda:<n>; auto and cuda give "
                        "rank i of a machine with N GPUs number i modulo N"});
  visitor.Knob("precision", precision,
               {.help = "numbers of the layers in updates; with bfloat16 parameters, gradients, "
                        "losses and the optimiser stay float32. It is fast on a GPU, slow on a CPU",
                .choices = {"float32", "bfloat16"}});
  visitor.Knob("torch_threads", torch_threads,
               {.help = "threads that torch uses inside one operation",
                .unit = "threads",
                .min = 1,
                .max = 256});
  cloning.Visit(visitor);
  visitor.Knob("unroll_id_window", unroll_id_window,
               {.help = "ids of trained unrolls that are remembered",
                .unit = "unrolls",
                .min = 1,
                .max = kMany});
  visitor.Knob(
      "content_capacity_bytes", content_capacity_bytes,
      {.help = "memory for embeddings, for catalogs and overlays, and for tables of candidates, a "
               "third each",
       .unit = "bytes",
       .min = 1 << 20});
  visitor.Knob("reduction", reduction,
               {.help = "what carries gradients between ranks; nccl needs a GPU a rank and a "
                        "build with SHOAL_CUDA",
                .choices = {"socket", "nccl"}});
  visitor.Knob("ring_min_bytes", ring_min_bytes,
               {.help = "over sockets, reductions of at least so many bytes go around a ring of "
                        "the ranks, and smaller ones over rank 0; 0: all go over rank 0",
                .unit = "bytes",
                .min = 0,
                .max = kMany});
  visitor.Knob("gradient_compression", gradient_compression,
               {.help = "bfloat16 halves what ranks send of gradients around the ring; what "
                        "rounding takes is added to the next ones. Smaller gradients than "
                        "learner.ring_min_bytes stay whole",
                .choices = {"none", "bfloat16"}});
  visitor.Knob("gradients", gradients,
               {.help = "synchronous: all ranks make each update together; asynchronous: rank 0 "
                        "applies the gradient of each rank as it comes",
                .choices = {"synchronous", "asynchronous"}});
  visitor.Knob("max_gradient_staleness", max_gradient_staleness,
               {.help = "asynchronous gradients of parameters that more updates have changed since "
                        "are dropped; 0: none",
                .unit = "updates",
                .min = 0,
                .max = kMany});
  visitor.Knob(
      "join_timeout_seconds", join_timeout_seconds,
      {.help = "time in which all ranks have to start", .unit = "seconds", .min = 0.1, .max = 1e6});
  visitor.Knob("reduction_timeout_seconds", reduction_timeout_seconds,
               {.help = "time by which one rank may be later than another in a reduction before "
                        "all ranks end with an error that names it; their supervisor also ends a "
                        "group without any reduction for twice this time, and starts all again",
                .unit = "seconds",
                .min = 0.1,
                .max = 1e6});
  visitor.Knob("verify_ranks", verify_ranks,
               {.help = "compare parameter digests of all ranks after every update, stop when "
                        "they differ"});
  visitor.Knob("digest_every_updates", digest_every_updates,
               {.help = "updates between logged digests of the parameters; 0: at the end alone",
                .unit = "updates",
                .min = 0,
                .max = kMany});
  visitor.Group("breaker", breaker);
}

collectives::CompressionRequest LearnerOptions::compression() const {
  return {.value = gradient_compression,
          .name = "learner.gradient_compression",
          .reduction_name = "learner.reduction",
          .ring_name = "learner.ring_min_bytes",
          .obstacle = asynchronous() ? "asynchronous gradients (learner.gradients) go to rank 0 "
                                       "one by one"
                                     : ""};
}

collectives::GroupOptions LearnerOptions::group() const {
  using Seconds = std::chrono::duration<double>;
  const auto time = [](double seconds) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(Seconds(seconds));
  };
  return {.reduction = collectives::ReductionNamed(reduction),
          .join_timeout = time(join_timeout_seconds),
          .call_timeout = time(reduction_timeout_seconds),
          .ring_min_bytes = ring_min_bytes};
}

}  // namespace shoal::learner
