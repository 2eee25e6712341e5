// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/heap.h"
#include "platform/runtime/log.h"
#include "platform/runtime/open_files.h"
#include "platform/runtime/program.h"
#include "platform/transport/address_list.h"
#include "replay/replay_server.h"

using namespace shoal;

int main(int argc, char** argv) {
  runtime::UseOneHeap();
  runtime::KeepFreedMemory();
  runtime::AllowAllOpenFiles();
  runtime::Program program("replay", "Keeps unrolls between inference servers and learners.");
  replay::ReplayConfig config;
  program.AddSection("replay", config.options);
  if (const auto code = program.Parse(argc, argv)) return *code;
  config.run = program.run();
  config.index = program.index();
  const runtime::ClusterOptions& cluster = program.cluster();
  auto shards = transport::AddressList::Create(cluster.replay, cluster.replay_file, "replay shard");
  if (!shards.ok()) return program.Fail(shards.status());
  config.shards = *std::move(shards);

  auto server = replay::ReplayServer::Create(config);
  if (!server.ok()) return program.Fail(server.status());

  const int code = program.WaitForStop();

  const bool drained = (*server)->Drain();
  spdlog::info("event=stopped drained={}", drained);
  return code;
}
