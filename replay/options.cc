// SPDX-License-Identifier: Apache-2.0
#include "replay/options.h"

#include <absl/strings/str_join.h>

#include <algorithm>
#include <chrono>
#include <span>
#include <string_view>
#include <utility>

#include "platform/runtime/random.h"
#include "replay/selectors/selector_kind.h"

namespace shoal::replay {
namespace {

// Chunks are at most as large as items. While some are written, memory has to take others, and half
// of it those of an item that is about to come.
constexpr std::int64_t kLeastChunksInMemory = 8;

}  // namespace

void TableKnobs::Visit(runtime::Visitor& visitor) {
  const std::span<const std::string_view> names = SelectorNames();
  std::vector<std::string_view> selectors(names.begin(), names.end());
  visitor.Knob("name", name, {.help = "what inference.table and learner.table call it"});
  visitor.Knob("sampler", sampler,
               {.help = "chooses the item that is given out next", .choices = selectors});
  selectors.insert(selectors.begin(), "none");
  visitor.Knob("remover", remover,
               {.help = "chooses the item that makes room when the table is full; none: a full "
                        "table takes no inserts",
                .choices = selectors});
  visitor.Knob("priority_exponent", priority_exponent,
               {.help = "a prioritized selector chooses items in proportion to this power of their "
                        "priorities; 0: all alike, 1: in proportion to the priorities",
                .min = 0,
                .max = kMaxPriorityExponent});
  visitor.Knob("max_size", max_size,
               {.help = "items that a shard holds", .unit = "items", .min = 1, .max = 1e12});
  visitor.Knob("max_bytes", max_bytes,
               {.help = "bytes of items that a shard holds", .unit = "bytes", .min = 1024});
  visitor.Knob("memory_bytes", memory_bytes,
               {.help = "part of max_bytes that a shard holds in memory; other payloads go to "
                        "replay.directory and are read from there; 0: all are in memory",
                .unit = "bytes",
                .min = 0});
  visitor.Knob("max_times_sampled", max_times_sampled,
               {.help = "how often an item is given out before it is removed; 0: no bound",
                .min = 0,
                .max = 1e9});
  visitor.Knob(
      "max_staleness", max_staleness,
      {.help = "items of which a version is older than the newest by more steps, or of an "
               "earlier epoch, are removed, so all when a learner starts again; 0: none is",
       .unit = "steps",
       .min = 0,
       .max = 1e9});
  visitor.Knob("max_age_seconds", max_age_seconds,
               {.help = "items that came in longer ago are removed; 0: none is",
                .unit = "seconds",
                .min = 0,
                .max = 1e9});
  visitor.Knob("min_size", min_size,
               {.help = "items that all shards together hold before any are given out",
                .unit = "items",
                .min = 1,
                .max = 1e12});
  visitor.Knob("samples_per_insert", samples_per_insert,
               {.help = "sampled steps for each inserted step; 0: no limit; in deterministic mode "
                        "rounds keep the proportion",
                .min = 0});
  visitor.Knob("error_buffer", error_buffer,
               {.help = "steps, all shards together, that samples may be ahead or behind",
                .unit = "steps",
                .min = 0});
  visitor.Knob("id_window", id_window,
               {.help = "ids of unrolls remembered to recognise repeats, besides those that are in",
                .unit = "ids",
                .min = 0,
                .max = 1e8});
  visitor.Knob("signature", signature,
               {.help = "columns of the table's items, each \"NAME DTYPE [D, D, ...]\" without the "
                        "dimension of time; empty: those of the first item"});
  visitor.Knob("durability", durability,
               {.help = "what a shard that dies may lose of the table: all, what happened in the "
                        "last batch_window_ms, or nothing that it had acknowledged",
                .choices = {"none", "batch", "always"}});
  visitor.Knob("batch_window_ms", batch_window_ms,
               {.help = "time within which changes reach the disk with durability \"batch\"",
                .unit = "ms",
                .min = 2,
                .max = 3.6e6});
}

absl::StatusOr<TableOptions> TableKnobs::ForShard(const ShardPlace& place) const {
  const auto selector = [this](std::string_view knob,
                               const std::string& value) -> absl::StatusOr<SelectorKind> {
    const auto kind = SelectorKindFrom(value);
    if (kind.ok()) return kind;
    return runtime::Annotate(kind.status(), "table " + name + ": " + std::string(knob));
  };
  const auto shards = static_cast<std::int64_t>(std::max<std::size_t>(1, place.shards));
  TableOptions table;
  table.name = name;
  SHOAL_ASSIGN_OR_RETURN(table.sampler, selector("sampler", sampler));
  if (remover != "none") {
    SHOAL_ASSIGN_OR_RETURN(table.remover, selector("remover", remover));
  }
  table.priority_exponent = priority_exponent;
  table.max_size = static_cast<std::size_t>(max_size);
  table.max_bytes = static_cast<std::size_t>(max_bytes);
  table.memory_bytes = static_cast<std::size_t>(memory_bytes);
  table.max_times_sampled = static_cast<std::uint32_t>(max_times_sampled);
  table.max_staleness = static_cast<std::uint32_t>(max_staleness);
  table.max_age =
      std::chrono::duration_cast<runtime::Duration>(std::chrono::duration<double>(max_age_seconds));
  table.limiter.min_size = static_cast<std::size_t>((min_size + shards - 1) / shards);
  table.limiter.samples_per_insert = samples_per_insert;
  table.limiter.error_buffer = error_buffer / static_cast<double>(shards);
  if (!signature.empty()) {
    absl::StatusOr<Signature> parsed = Signature::Parse(absl::StrJoin(signature, "\n"));
    if (!parsed.ok()) {
      return runtime::Annotate(parsed.status(), "table " + name + ": signature");
    }
    table.signature = *std::move(parsed);
  }
  table.durability = durability == "always"  ? Durability::kAlways
                     : durability == "batch" ? Durability::kBatch
                                             : Durability::kNone;
  table.batch_window = std::chrono::milliseconds(batch_window_ms);
  table.id_window = static_cast<std::size_t>(id_window);
  table.seed =
      runtime::DeriveSeed(place.seed, "replay " + std::to_string(place.index) + " " + name);
  return table;
}

void Options::Visit(runtime::Visitor& visitor) {
  visitor.Knob("listen", listen, {.help = "host:port to serve on; empty: cluster.replay[index]"});
  visitor.Knob("metrics_listen", metrics_listen,
               {.help = "host:port of the Prometheus endpoint; empty: none"});
  visitor.Knob("content_capacity_bytes", content_capacity_bytes,
               {.help = "bytes of the embeddings, catalogs, overlays and chunks that a shard holds",
                .unit = "bytes",
                .min = 1 << 20});
  visitor.Knob("content_memory_bytes", content_memory_bytes,
               {.help = "part of content_capacity_bytes that a shard holds in memory; other chunks "
                        "go to replay.directory and are read from there; 0: all are in memory",
                .unit = "bytes",
                .min = 0});
  visitor.Knob(
      "unused_content_bytes", unused_content_bytes,
      {.help = "part of it that contents may take which no item uses now; chunks a quarter of this",
       .unit = "bytes",
       .min = 1 << 20});
  visitor.Knob("max_item_bytes", max_item_bytes,
               {.help = "a larger payload is refused",
                .unit = "bytes",
                .min = 1024,
                .max = double(std::int64_t{48} << 20)});
  visitor.Knob("insert_credit", insert_credit,
               {.help = "items that one inference server may have on their way",
                .unit = "items",
                .min = 1,
                .max = 4096});
  visitor.Knob(
      "drain_ms", drain_ms,
      {.help = "time that streams get to end at shutdown", .unit = "ms", .min = 0, .max = 60000});
  visitor.Knob("read_threads", read_threads,
               {.help = "payloads and chunks that a shard reads from disk at the same time, where "
                        "a table has memory_bytes or content_memory_bytes is set",
                .min = 1,
                .max = 64});
  visitor.Knob("directory", directory,
               {.help = "where shards keep their durable tables and what they have no memory for, "
                        "each in a folder of its own"});
  visitor.Knob(
      "restore", restore,
      {.help = "folder of a checkpoint from which shards begin that have none of their own "
               "in replay.directory; empty: they begin empty"});
  visitor.Groups("table", tables);
}

absl::StatusOr<ShardOptions> Options::ForShard(const ShardPlace& place) const {
  ShardOptions options;
  for (const TableKnobs& table : tables) {
    SHOAL_ASSIGN_OR_RETURN(TableOptions made, table.ForShard(place));
    options.tables.push_back(std::move(made));
  }
  if (content_memory_bytes > 0 && content_memory_bytes < kLeastChunksInMemory * max_item_bytes) {
    return runtime::InvalidArgument(
        "replay.content_memory_bytes is " + std::to_string(content_memory_bytes) +
        ", and has to be at least " + std::to_string(kLeastChunksInMemory) +
        " times replay.max_item_bytes, which is " + std::to_string(max_item_bytes));
  }
  if (content_memory_bytes > content_capacity_bytes) {
    return runtime::InvalidArgument("replay.content_memory_bytes is " +
                                    std::to_string(content_memory_bytes) +
                                    ", more than replay.content_capacity_bytes, which is " +
                                    std::to_string(content_capacity_bytes));
  }
  options.contents.memory_bytes = static_cast<std::size_t>(content_memory_bytes);
  options.contents.capacity_bytes = static_cast<std::size_t>(content_capacity_bytes);
  options.contents.unused_capacity_bytes = static_cast<std::size_t>(unused_content_bytes);
  options.read_threads = static_cast<std::size_t>(read_threads);
  return options;
}

absl::StatusOr<std::string> Options::ShardDirectory(std::int64_t index) const {
  const auto on_disk = std::find_if(tables.begin(), tables.end(), [](const TableKnobs& table) {
    return table.durability != "none" || table.memory_bytes > 0;
  });
  if (on_disk == tables.end() && content_memory_bytes == 0) return "";
  if (directory.empty() && on_disk == tables.end()) {
    return runtime::InvalidArgument("replay.content_memory_bytes needs replay.directory");
  }
  if (directory.empty()) {
    const std::string why = on_disk->durability == "none"
                                ? "memory_bytes"
                                : "durability \"" + on_disk->durability + "\"";
    return runtime::InvalidArgument("table " + on_disk->name + ": " + why +
                                    " needs replay.directory");
  }
  return directory + "/shard-" + std::to_string(index);
}

absl::StatusOr<std::string> ListenAddress(const Options& options,
                                          const std::vector<std::string>& addresses,
                                          std::int64_t index) {
  if (!options.listen.empty()) return options.listen;
  if (index < 0 || index >= static_cast<std::int64_t>(addresses.size())) {
    return runtime::InvalidArgument("replay.listen is empty and cluster.replay has " +
                                    std::to_string(addresses.size()) +
                                    " addresses, none for index " + std::to_string(index));
  }
  return addresses[static_cast<std::size_t>(index)];
}

}  // namespace shoal::replay
