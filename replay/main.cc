// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <memory>
#include <utility>

#include "platform/runtime/log.h"
#include "platform/runtime/metrics.h"
#include "platform/runtime/program.h"
#include "platform/transport/server.h"
#include "replay/client/shard_list.h"
#include "replay/durability/disk_journal.h"
#include "replay/options.h"
#include "replay/service.h"
#include "replay/shard.h"
#include "replay/table_settings.h"

using namespace shoal;

int main(int argc, char** argv) {
  runtime::Program program("replay", "Keeps unrolls between inference servers and learners.");
  replay::Options options;
  program.AddSection("replay", options);
  if (const auto code = program.Parse(argc, argv)) return *code;

  const auto shards =
      replay::client::ShardList::Create(program.cluster().replay, program.cluster().replay_file);
  if (!shards.ok()) return program.Fail(shards.status());
  const auto listen = replay::ListenAddress(options, shards->addresses(), program.index());
  if (!listen.ok()) return program.Fail(listen.status());

  runtime::Metrics metrics;
  if (auto status = metrics.Expose(options.metrics_listen); !status.ok()) {
    return program.Fail(status);
  }
  const replay::ShardPlace place = {.index = static_cast<std::uint64_t>(program.index()),
                                    .shards = shards->addresses().size(),
                                    .seed = static_cast<std::uint64_t>(program.run().seed)};
  const auto shard_options = options.ForShard(place);
  if (!shard_options.ok()) return program.Fail(shard_options.status());
  const auto directory = options.ShardDirectory(program.index());
  if (!directory.ok()) return program.Fail(directory.status());
  std::unique_ptr<replay::Journal> journal;
  if (!directory->empty()) {
    auto opened =
        replay::durability::DiskJournal::Create({.directory = *directory,
                                                 .checkpoints = options.directory + "/checkpoints",
                                                 .restore = options.restore});
    if (!opened.ok()) return program.Fail(opened.status());
    journal = *std::move(opened);
  }
  auto shard = replay::Shard::Create(*shard_options, runtime::SystemClock(), std::move(journal));
  if (!shard.ok()) return program.Fail(shard.status());
  replay::TableSettings settings(options.tables, place, **shard, *shards);
  replay::Service service({.max_item_bytes = static_cast<std::size_t>(options.max_item_bytes),
                           .credit = static_cast<std::size_t>(options.insert_credit)},
                          **shard, settings, metrics);
  auto server = transport::Server::Create({.listen = *listen}, {&service});
  if (!server.ok()) return program.Fail(server.status());
  spdlog::info("event=listening address={}", (*server)->address());
  (*server)->SetServing(true);

  const int code = program.WaitForStop();

  const std::chrono::milliseconds grace(options.drain_ms);
  (*server)->SetServing(false);
  const bool drained = service.Drain(grace);
  (*server)->Shutdown(std::chrono::milliseconds(0));
  spdlog::info("event=stopped drained={}", drained);
  return code;
}
