// SPDX-License-Identifier: Apache-2.0
#include "replay/options.h"

#include <algorithm>

namespace shoal::replay {

void Options::Visit(runtime::Visitor& visitor) {
  visitor.Knob("listen", listen, {.help = "host:port to serve on; empty: cluster.replay[index]"});
  visitor.Knob("metrics_listen", metrics_listen,
               {.help = "host:port of the Prometheus endpoint; empty: none"});
  visitor.Knob("tables", tables, {.help = "names of the tables; each has the limits below"});
  visitor.Knob("capacity_items", capacity_items,
               {.help = "items that a table of this shard holds", .unit = "items", .min = 1});
  visitor.Knob("capacity_bytes", capacity_bytes,
               {.help = "bytes that a table of this shard holds", .unit = "bytes", .min = 1024});
  visitor.Knob("min_size", min_size,
               {.help = "items that all shards together hold before any are given out",
                .unit = "items",
                .min = 1});
  visitor.Knob("max_times_sampled", max_times_sampled,
               {.help = "how often an item is given out before it is removed; 0: no bound",
                .min = 0,
                .max = 1e9});
  visitor.Knob("samples_per_insert", samples_per_insert,
               {.help = "sampled steps for each inserted step; 0: no limit", .min = 0});
  visitor.Knob("error_buffer", error_buffer,
               {.help = "steps, all shards together, that samples may be ahead or behind",
                .unit = "steps",
                .min = 0});
  visitor.Knob("id_window", id_window,
               {.help = "unroll ids remembered by a table to recognise repeats",
                .unit = "ids",
                .min = 0,
                .max = 1e8});
  visitor.Knob("content_capacity_bytes", content_capacity_bytes,
               {.help = "embeddings, catalogs and overlays that a shard holds",
                .unit = "bytes",
                .min = 1024});
  visitor.Knob("unused_content_bytes", unused_content_bytes,
               {.help = "of these, kept though no item uses them now", .unit = "bytes", .min = 0});
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
  visitor.Knob("exit_before_acknowledgement", exit_before_acknowledgement,
               {.help = "for tests: withhold this acknowledgement and die by SIGKILL 300 ms later, "
                        "once a run; 0: never",
                .min = 0});
}

ShardOptions Options::ForShard(std::size_t shards) const {
  const auto share = static_cast<std::int64_t>(std::max<std::size_t>(1, shards));
  ShardOptions options;
  for (const std::string& name : tables) {
    TableOptions table;
    table.name = name;
    table.capacity_items = static_cast<std::size_t>(capacity_items);
    table.capacity_bytes = static_cast<std::size_t>(capacity_bytes);
    table.max_times_sampled = static_cast<std::uint32_t>(max_times_sampled);
    table.limiter.min_size = static_cast<std::size_t>((min_size + share - 1) / share);
    table.limiter.samples_per_insert = samples_per_insert;
    table.limiter.error_buffer = error_buffer / static_cast<double>(share);
    table.id_window = static_cast<std::size_t>(id_window);
    options.tables.push_back(std::move(table));
  }
  options.contents.capacity_bytes = static_cast<std::size_t>(content_capacity_bytes);
  options.contents.unused_capacity_bytes = static_cast<std::size_t>(unused_content_bytes);
  return options;
}

absl::StatusOr<std::string> ListenAddress(const Options& options,
                                          const runtime::ClusterOptions& cluster,
                                          std::int64_t index) {
  if (!options.listen.empty()) return options.listen;
  if (index < 0 || index >= static_cast<std::int64_t>(cluster.replay.size())) {
    return runtime::InvalidArgument("replay.listen is empty and cluster.replay has " +
                                    std::to_string(cluster.replay.size()) +
                                    " addresses, none for index " + std::to_string(index));
  }
  return cluster.replay[static_cast<std::size_t>(index)];
}

}  // namespace shoal::replay
