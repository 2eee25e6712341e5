// SPDX-License-Identifier: Apache-2.0
#include "inference/service/options.h"

#include "replay/client/chunk_codec.h"

namespace shoal::inference {
namespace {

void VisitBatching(InferenceOptions& options, runtime::Visitor& visitor) {
  visitor.Knob(
      "max_rows", options.max_rows,
      {.help = "rows in a batch of a device at most", .unit = "rows", .min = 1, .max = 65536});
  visitor.Knob(
      "max_delay_us", options.max_delay_us,
      {.help = "a batch goes when its oldest row has waited this long; 0: whatever is there",
       .unit = "us",
       .min = 0,
       .max = 1e6});
  visitor.Knob(
      "max_queued_rows", options.max_queued_rows,
      {.help = "rows waiting for a batch of each device, and for the encoder; more are told to "
               "come later",
       .unit = "rows",
       .min = 1,
       .max = 1e7});
  visitor.Knob("max_queued_messages", options.max_queued_messages,
               {.help = "messages not decoded yet", .unit = "messages", .min = 1, .max = 1e6});
  visitor.Knob("stream_window", options.stream_window,
               {.help = "messages of one stream in work before its reading pauses",
                .unit = "messages",
                .min = 1,
                .max = 1e6});
  visitor.Knob("max_message_bytes", options.max_message_bytes,
               {.help = "largest message taken", .unit = "bytes", .min = 1024, .max = 2147483647});
}

void VisitUnrolls(InferenceOptions& options, runtime::Visitor& visitor) {
  visitor.Knob("unroll_cut", options.unroll_cut,
               {.help = "where an unroll ends", .choices = {"length", "episode"}});
  visitor.Knob("unroll_length", options.unroll_length,
               {.help = "rows of an unroll cut by length", .unit = "rows", .min = 1, .max = 65536});
  visitor.Knob("max_episode_rows", options.max_episode_rows,
               {.help = "an unroll cut by episode is cut here at the latest",
                .unit = "rows",
                .min = 1,
                .max = 65536});
  visitor.Knob("unroll_overlap", options.unroll_overlap,
               {.help = "rows that an unroll has in common with the one before, within an episode",
                .unit = "rows",
                .min = 0,
                .max = 65535});
  visitor.Knob("chunk_length", options.chunk_length,
               {.help = "rows stored together where chunks are used; 0: follows their size",
                .unit = "rows",
                .min = 0,
                .max = 65536});
  visitor.Knob(
      "chunk_compression", options.chunk_compression,
      {.help = "zstd's level for rows stored in chunks, which unrolls with unroll_overlap 0 use "
               "only above 0; 0: none; -1: 1 where unrolls overlap",
       .min = -1,
       .max = replay::client::ChunkEncoder::kMaxLevel});
  visitor.Knob("table", options.table, {.help = "replay's table that unrolls go to"});
  visitor.Knob(
      "outbox_items", options.outbox_items,
      {.help = "unrolls not acknowledged by one shard; at the limit environments are parked",
       .unit = "unrolls",
       .min = 1,
       .max = 1e6});
  visitor.Knob("outbox_bytes", options.outbox_bytes,
               {.help = "their bytes", .unit = "bytes", .min = 1024, .max = 1e12});
}

void VisitEncoding(InferenceOptions& options, runtime::Visitor& visitor) {
  visitor.Knob("content_cache_bytes", options.content_cache_bytes,
               {.help = "embeddings kept; those in use stay in any case",
                .unit = "bytes",
                .min = 0,
                .max = 1e12});
  visitor.Knob("catalog_cache_bytes", options.catalog_cache_bytes,
               {.help = "catalogs, overlays and what is computed for them; those that rows or open "
                        "unrolls use stay in any case",
                .unit = "bytes",
                .min = 0,
                .max = 1e12});
  visitor.Knob("waiting_text_bytes", options.waiting_text_bytes,
               {.help = "text waiting for the encoder", .unit = "bytes", .min = 1024, .max = 1e12});
  visitor.Knob("similarity_cache_bytes", options.similarity_cache_bytes,
               {.help = "similarities of candidates and goals kept for each device",
                .unit = "bytes",
                .min = 0,
                .max = 1e12});
  options.encoder.Visit(visitor);
  options.embedding_cache.Visit(visitor);
}

}  // namespace

void ExplorationOptions::Visit(runtime::Visitor& visitor) {
  visitor.Knob("start", start,
               {.help = "action values: share of random actions at first", .min = 0, .max = 1});
  visitor.Knob("end", end, {.help = "their share after `steps`", .min = 0, .max = 1});
  visitor.Knob("steps", steps,
               {.help = "environment steps over which their share changes",
                .unit = "steps",
                .min = 1,
                .max = 1e15});
  visitor.Knob("ladder", ladder,
               {.help = "N environments keep shares of their own, base^(1 + alpha i / (N - 1)) for "
                        "environment i; 0: all have the same",
                .unit = "environments",
                .min = 0,
                .max = 1e9});
  visitor.Knob("ladder_base", ladder_base, {.help = "base of the ladder", .min = 0, .max = 1});
  visitor.Knob("ladder_alpha", ladder_alpha, {.help = "alpha of the ladder", .min = 0, .max = 100});
}

void InferenceOptions::Visit(runtime::Visitor& visitor) {
  visitor.Knob("listen", listen, {.help = "host:port; empty: cluster.inference of this index"});
  visitor.Knob("metrics_listen", metrics_listen, {.help = "Prometheus host:port; empty: none"});
  visitor.Knob("policy_id", policy_id,
               {.help = "policy that this server runs, of several that are trained side by side; "
                        "rows for another are refused",
                .min = 0,
                .max = 4294967295.0});
  VisitBatching(*this, visitor);
  VisitUnrolls(*this, visitor);
  VisitEncoding(*this, visitor);
  visitor.Knob(
      "device", device,
      {.help = "where the policy computes: auto, cpu, cuda or cuda:<n>; auto and cuda give "
               "server i of a machine with N GPUs number i modulo N; several devices, each with a "
               "thread that acts for its share of the environments: cuda:* for all GPUs, or a list "
               "of cpu and cuda:<n> with commas"});
  visitor.Knob("precision", precision,
               {.help = "numbers of a convolution on a GPU; bfloat16 is several times faster, and "
                        "log-probabilities then differ by some thousandths from the learner's",
                .choices = {"float32", "bfloat16"}});
  visitor.Knob("graphs", graphs,
               {.help = "auto: a GPU repeats the recorded forward pass of batches of about the "
                        "same size, which saves launching its kernels one by one; off: it does not",
                .choices = {"auto", "off"}});
  visitor.Knob("torch_threads", torch_threads,
               {.help = "inside one operation", .unit = "threads", .min = 1, .max = 256});
  visitor.Knob("parameters_folder", parameters_folder,
               {.help = "last parameters; empty: inference-<index> in the run's folder"});
  visitor.Knob(
      "retained_versions", retained_versions,
      {.help = "newest versions that evaluations can be pinned to, besides the initial one",
       .unit = "versions",
       .min = 1,
       .max = 1024});
  visitor.Knob("lockstep_environments", lockstep_environments,
               {.help = "deterministic mode: train environments that go in lock step",
                .unit = "environments",
                .min = 0,
                .max = 1e6});
  visitor.Knob("lockstep_unrolls", lockstep_unrolls,
               {.help = "deterministic mode: unrolls of each of them in a round, after which comes "
                        "a version; `shoal train` sets it: for a queue to learner.round_unrolls / "
                        "lockstep_environments",
                .unit = "unrolls",
                .min = 1,
                .max = 1e6});
  visitor.Knob("lockstep_fill_unrolls", lockstep_fill_unrolls,
               {.help = "deterministic mode, algorithms that sample from a table: unrolls of each "
                        "in the first round, which fill the table; `shoal train` sets it; 0: the "
                        "table is a queue",
                .unit = "unrolls",
                .min = 0,
                .max = 1e6});
  visitor.Knob("drain_ms", drain_ms,
               {.help = "for answers and unrolls under way at the end",
                .unit = "ms",
                .min = 0,
                .max = 600000});
  visitor.Group("exploration", exploration);
}

absl::Status InferenceOptions::Check() const {
  const bool by_episode = unroll_cut == "episode";
  const std::int64_t rows = by_episode ? max_episode_rows : unroll_length;
  if (unroll_overlap < rows) return absl::OkStatus();
  return runtime::InvalidArgument(
      "inference.unroll_overlap " + std::to_string(unroll_overlap) + " must be below inference." +
      (by_episode ? "max_episode_rows " : "unroll_length ") + std::to_string(rows));
}

absl::StatusOr<std::string> ListenAddress(const InferenceOptions& options,
                                          const runtime::ClusterOptions& cluster,
                                          std::int64_t index) {
  if (!options.listen.empty()) return options.listen;
  if (index >= 0 && static_cast<std::size_t>(index) < cluster.inference.size()) {
    return cluster.inference[static_cast<std::size_t>(index)];
  }
  return runtime::InvalidArgument("inference.listen is empty and cluster.inference has no entry " +
                                  std::to_string(index));
}

}  // namespace shoal::inference
