// SPDX-License-Identifier: Apache-2.0
#include "cli/simulation/simulation.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/simulation/event_queue.h"
#include "cli/simulation/machine_room.h"
#include "cli/simulation/simulated_machine.h"
#include "cli/simulation/simulation_result.h"

namespace shoal::cli {
namespace {

constexpr double kMicro = 1e-6;
constexpr std::uint64_t kMostEvents = 400'000'000;
// A prime that spreads the beginnings of unrolls over their length.
constexpr std::int64_t kSpread = 7919;

struct Item {
  std::int64_t version = 0;
};

class Cluster {
 public:
  Cluster(const SimulatedCluster& cluster, const SimulationOptions& options);
  absl::StatusOr<SimulationResult> Run(double seconds);

 private:
  // Environments of one actor and one replica that send their rows together.
  struct Block {
    std::size_t actor = 0;
    std::size_t server = 0;
    std::size_t replica = 0;
    std::int64_t rows = 0;
    std::int64_t steps = 0;
    double since = 0;
    // When its rows came to the server.
    double arrived = 0;
  };
  struct Replica {
    std::deque<Block*> waiting;
    std::int64_t waiting_rows = 0;
    bool acting = false;
    std::uint64_t timer = 0;
  };
  struct Server {
    std::unique_ptr<SimulatedProgram> program;
    std::vector<Replica> replicas;
    std::int64_t version = 0;
    // Items that have not found room in replay, and blocks that wait until theirs have.
    std::deque<Item> outbox;
    std::deque<Block*> held;
    std::size_t next_shard = 0;
  };
  struct Shard {
    std::unique_ptr<SimulatedProgram> program;
    std::deque<Item> items;
    // Room that items on their way will take.
    std::int64_t promised = 0;
  };
  struct Rank {
    std::unique_ptr<SimulatedProgram> program;
    std::deque<Item> buffer;
    std::int64_t asked = 0;
    std::size_t next_shard = 0;
    double waiting_since = 0;
  };
  // Sums that began to be counted when the first third was over.
  struct Sums {
    double steps = 0;
    double updates = 0;
    double rows = 0;
    double staleness = 0;
    double trained = 0;
    double stale = 0;
    double batches = 0;
    double batch_rows = 0;
    double environment = 0;
    double inference = 0;
    double room = 0;
    double waits = 0;
    double reduces = 0;
  };

  std::int64_t RankUnrolls() const;
  // Divides the rows of a message, the first of which is of the environment `first`, among the
  // replicas of a server.
  void AddBlocks(std::size_t actor, std::size_t server, std::int64_t first, std::int64_t rows);
  void Step(Block* block);
  void StepService(Block* block, double seconds);
  void Ask(Block* block);
  void Consider(std::size_t server, std::size_t replica);
  void Act(std::size_t server, std::size_t replica);
  void Answer(std::size_t server, const std::vector<Block*>& blocks);
  void CutUnrolls(std::size_t server, Block* block);
  void Flush(std::size_t server);
  bool InsertAllowed() const;
  bool SampleAllowed() const;
  void Inserted(std::size_t shard, Item item);
  void FlushAll();
  void Fetch(std::size_t rank);
  void FetchAll();
  // Drops what has become too old while it waited, and fetches other items.
  void DropStale(std::size_t rank);
  void TryUpdate();
  void Reduce();
  void Publish();
  // Returns every resource in a fixed order, with how much of it was used since the beginning.
  std::vector<MeteredResource> Resources() const;
  // The processor time of each program since the beginning.
  std::vector<ResourceUse> ProcessorTime() const;
  SimulationResult ResultOf(double seconds, const std::vector<MeteredResource>& before,
                            const std::vector<ResourceUse>& processor_time_before) const;

  const SimulatedCluster& cluster_;
  const SimulationOptions& options_;
  EventQueue events_;
  const MachineRoom machines_;
  std::vector<std::unique_ptr<SimulatedProgram>> actors_;
  std::vector<std::unique_ptr<SimulatedProgram>> services_;
  std::vector<Server> servers_;
  std::vector<Shard> shards_;
  std::vector<Rank> ranks_;
  std::vector<Block> blocks_;
  double inserted_ = 0;
  double sampled_ = 0;
  std::int64_t version_ = 0;
  std::int64_t updates_ = 0;
  std::size_t computing_ = 0;
  Sums sums_;
};

Cluster::Cluster(const SimulatedCluster& cluster, const SimulationOptions& options)
    : cluster_(cluster), options_(options), machines_(events_, options.machines) {
  const auto make = [this](const char* program, std::int64_t index, std::int64_t count,
                           std::int64_t threads) {
    return std::make_unique<SimulatedProgram>(events_, machines_.HomeOf(program, index, count),
                                              static_cast<std::size_t>(threads));
  };
  for (std::int64_t i = 0; i < cluster_.actors; ++i) {
    actors_.push_back(make("actor", i, cluster_.actors, cluster_.actor_threads));
  }
  // The mock server works on as many threads as its machine has processors. There is one for each
  // machine that runs it.
  if (cluster_.has_services) {
    for (SimulatedMachine* const home : machines_.HomesOf("mockserver")) {
      if (services_.size() == actors_.size()) break;
      const auto threads = static_cast<std::size_t>(std::max(1.0, home->processors.processors()));
      services_.push_back(std::make_unique<SimulatedProgram>(events_, *home, threads));
    }
  }
  for (std::int64_t i = 0; i < cluster_.inference_servers; ++i) {
    const auto& [replicas, devices] = cluster_.inference_devices;
    const auto threads = static_cast<std::size_t>(replicas);
    Server& server = servers_.emplace_back();
    server.program = std::make_unique<SimulatedProgram>(
        events_, machines_.HomeOf("inference", i, cluster_.inference_servers), threads, threads,
        devices);
    server.replicas.resize(threads);
  }
  for (std::int64_t i = 0; i < cluster_.replay_shards; ++i) {
    shards_.emplace_back().program = make("replay", i, cluster_.replay_shards, 1);
  }
  for (std::int64_t i = 0; i < cluster_.learner_ranks; ++i) {
    Rank& rank = ranks_.emplace_back();
    rank.program = make("learner", i, cluster_.learner_ranks, cluster_.learner_threads);
    rank.next_shard = static_cast<std::size_t>(i % cluster_.replay_shards);
  }
  std::size_t messages = 0;
  for (std::int64_t actor = 0; actor < cluster_.actors; ++actor) {
    for (std::int64_t first = 0; first < cluster_.environments;
         first += cluster_.rows_per_message) {
      const std::int64_t rows = std::min(cluster_.environments - first, cluster_.rows_per_message);
      AddBlocks(static_cast<std::size_t>(actor), messages++ % servers_.size(), first, rows);
    }
  }
}

void Cluster::AddBlocks(std::size_t actor, std::size_t server, std::int64_t first,
                        std::int64_t rows) {
  const std::int64_t replicas = cluster_.inference_devices.replicas;
  for (std::int64_t i = 0; i < std::min(rows, replicas); ++i) {
    // In a cluster that has run for a while, unrolls end at different times.
    const auto begun = static_cast<std::int64_t>(blocks_.size()) * kSpread;
    blocks_.push_back({.actor = actor,
                       .server = server,
                       .replica = static_cast<std::size_t>((first + i) % replicas),
                       .rows = (rows - i + replicas - 1) / replicas,
                       .steps = begun % cluster_.unroll_length});
  }
}

std::int64_t Cluster::RankUnrolls() const {
  return std::max<std::int64_t>(1, cluster_.round_unrolls / cluster_.learner_ranks);
}

void Cluster::Step(Block* block) {
  block->since = events_.now();
  const auto rows = static_cast<double>(block->rows);
  actors_[block->actor]->process.Work(
      rows * options_.costs.actor_step_us * kMicro,
      [this, block, rows] { StepService(block, rows * options_.costs.service_step_us * kMicro); });
}

void Cluster::StepService(Block* block, double seconds) {
  const auto stepped = [this, block] {
    events_.After(options_.costs.environment_wait_us * kMicro, [this, block] {
      sums_.environment += (events_.now() - block->since) * static_cast<double>(block->rows);
      sums_.steps += static_cast<double>(block->rows);
      Ask(block);
    });
  };
  if (services_.empty()) {
    stepped();
  } else {
    services_[block->actor % services_.size()]->process.Work(seconds, stepped);
  }
}

void Cluster::Ask(Block* block) {
  block->since = events_.now();
  const std::size_t server = block->server;
  Deliver(events_, actors_[block->actor]->machine.network,
          servers_[server].program->machine.network,
          static_cast<double>(block->rows) * options_.costs.row_bytes, [this, server, block] {
            block->arrived = events_.now();
            Replica& replica = servers_[server].replicas[block->replica];
            replica.waiting.push_back(block);
            replica.waiting_rows += block->rows;
            Consider(server, block->replica);
          });
}

void Cluster::Consider(std::size_t server, std::size_t index) {
  Replica& replica = servers_[server].replicas[index];
  if (replica.acting || replica.waiting.empty()) return;
  const double due = replica.waiting.front()->arrived + cluster_.max_delay_seconds;
  if (replica.waiting_rows >= cluster_.max_rows || events_.now() >= due) {
    Act(server, index);
    return;
  }
  const std::uint64_t timer = ++replica.timer;
  events_.At(due, [this, server, index, timer] {
    if (servers_[server].replicas[index].timer == timer) Consider(server, index);
  });
}

void Cluster::Act(std::size_t server, std::size_t index) {
  Replica& replica = servers_[server].replicas[index];
  ++replica.timer;
  replica.acting = true;
  std::vector<Block*> batch;
  std::int64_t rows = 0;
  while (!replica.waiting.empty() &&
         (batch.empty() || rows + replica.waiting.front()->rows <= cluster_.max_rows)) {
    batch.push_back(replica.waiting.front());
    rows += batch.back()->rows;
    replica.waiting.pop_front();
  }
  replica.waiting_rows -= rows;
  ++sums_.batches;
  sums_.batch_rows += static_cast<double>(rows);
  const SimulatedCosts& costs = options_.costs;
  servers_[server].program->Compute(
      static_cast<double>(rows) * costs.inference_host_row_us * kMicro,
      (costs.inference_batch_us + static_cast<double>(rows) * costs.inference_row_us) * kMicro,
      costs.inference_on_device, 1, [this, server, index, batch = std::move(batch)] {
        servers_[server].replicas[index].acting = false;
        Answer(server, batch);
        Consider(server, index);
      });
}

void Cluster::Answer(std::size_t index, const std::vector<Block*>& blocks) {
  for (Block* const block : blocks) {
    sums_.inference += (events_.now() - block->since) * static_cast<double>(block->rows);
    block->since = events_.now();
    if (++block->steps % cluster_.unroll_length == 0) CutUnrolls(index, block);
    servers_[index].held.push_back(block);
  }
  Flush(index);
}

void Cluster::CutUnrolls(std::size_t index, Block* block) {
  for (std::int64_t i = 0; i < block->rows; ++i) {
    servers_[index].outbox.push_back({.version = servers_[index].version});
  }
}

bool Cluster::InsertAllowed() const {
  if (cluster_.queue) return true;
  const double length = static_cast<double>(cluster_.unroll_length);
  return (inserted_ * cluster_.samples_per_insert - sampled_) * length <=
         cluster_.error_buffer_steps + length;
}

bool Cluster::SampleAllowed() const {
  if (cluster_.queue) return true;
  const double length = static_cast<double>(cluster_.unroll_length);
  return (sampled_ - inserted_ * cluster_.samples_per_insert) * length <=
         cluster_.error_buffer_steps;
}

void Cluster::Flush(std::size_t index) {
  Server& server = servers_[index];
  for (std::size_t tried = 0; !server.outbox.empty() && tried < shards_.size();) {
    const std::size_t target = server.next_shard % shards_.size();
    Shard& shard = shards_[target];
    const bool room =
        !cluster_.queue ||
        static_cast<std::int64_t>(shard.items.size()) + shard.promised < cluster_.table_items;
    if (!room || !InsertAllowed()) {
      ++server.next_shard;
      ++tried;
      continue;
    }
    tried = 0;
    ++server.next_shard;
    const Item item = server.outbox.front();
    server.outbox.pop_front();
    ++inserted_;
    ++shard.promised;
    Deliver(events_, server.program->machine.network, shard.program->machine.network,
            options_.costs.item_bytes, [this, target, item] {
              shards_[target].program->process.Work(
                  options_.costs.shard_item_us * kMicro / 2,
                  [this, target, item] { Inserted(target, item); });
            });
  }
  // Answers leave while few enough items wait.
  while (!server.held.empty() &&
         static_cast<std::int64_t>(server.outbox.size()) <= cluster_.outbox_items) {
    Block* const block = server.held.front();
    server.held.pop_front();
    sums_.room += (events_.now() - block->since) * static_cast<double>(block->rows);
    Deliver(events_, server.program->machine.network, actors_[block->actor]->machine.network,
            static_cast<double>(block->rows) * 16, [this, block] { Step(block); });
  }
}

void Cluster::FlushAll() {
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    if (!servers_[i].outbox.empty() || !servers_[i].held.empty()) Flush(i);
  }
}

void Cluster::Inserted(std::size_t index, Item item) {
  Shard& shard = shards_[index];
  --shard.promised;
  shard.items.push_back(item);
  while (!cluster_.queue && static_cast<std::int64_t>(shard.items.size()) > cluster_.table_items) {
    shard.items.pop_front();
  }
  FetchAll();
}

void Cluster::FetchAll() {
  for (std::size_t i = 0; i < ranks_.size(); ++i) Fetch(i);
}

void Cluster::Fetch(std::size_t index) {
  Rank& rank = ranks_[index];
  for (std::size_t tried = 0; tried < shards_.size();) {
    if (static_cast<std::int64_t>(rank.buffer.size()) + rank.asked >= RankUnrolls()) return;
    if (!SampleAllowed()) return;
    const std::size_t from = rank.next_shard++ % shards_.size();
    Shard& shard = shards_[from];
    if (shard.items.empty()) {
      ++tried;
      continue;
    }
    tried = 0;
    // A table that keeps its items gives them in turn, which has the mean age of a uniform choice.
    const Item item = shard.items.front();
    shard.items.pop_front();
    if (!cluster_.queue) shard.items.push_back(item);
    ++sampled_;
    ++rank.asked;
    shard.program->process.Work(options_.costs.shard_item_us * kMicro / 2,
                                [this, index, from, item] {
                                  Deliver(events_, shards_[from].program->machine.network,
                                          ranks_[index].program->machine.network,
                                          options_.costs.item_bytes, [this, index, item] {
                                            Rank& to = ranks_[index];
                                            --to.asked;
                                            to.buffer.push_back(item);
                                            TryUpdate();
                                          });
                                });
    FlushAll();
  }
}

void Cluster::DropStale(std::size_t index) {
  if (cluster_.max_lag == 0) return;
  const std::size_t dropped = std::erase_if(ranks_[index].buffer, [this](const Item& item) {
    return version_ - item.version > cluster_.max_lag;
  });
  sums_.stale += static_cast<double>(dropped);
  if (dropped > 0) Fetch(index);
}

void Cluster::TryUpdate() {
  if (computing_ > 0) return;
  const auto share = static_cast<std::size_t>(RankUnrolls());
  bool enough = true;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    DropStale(i);
    enough = enough && ranks_[i].buffer.size() >= share;
  }
  if (!enough) return;
  computing_ = ranks_.size();
  const double rows = static_cast<double>(RankUnrolls() * cluster_.unroll_length);
  const SimulatedCosts& costs = options_.costs;
  for (Rank& rank : ranks_) {
    sums_.waits += events_.now() - rank.waiting_since;
    for (std::size_t i = 0; i < share; ++i) {
      sums_.staleness += static_cast<double>(version_ - rank.buffer.front().version);
      ++sums_.trained;
      rank.buffer.pop_front();
    }
    rank.program->Compute(rows * costs.learner_host_row_us * kMicro,
                          (costs.learner_update_us + rows * costs.learner_row_us) * kMicro,
                          costs.learner_on_device, rank.program->process.threads(), [this] {
                            if (--computing_ == 0) Reduce();
                          });
  }
  FetchAll();
}

// A ring: each rank sends 2 (W - 1) / W of the parameters in 2 (W - 1) pieces.
void Cluster::Reduce() {
  const auto ranks = static_cast<double>(ranks_.size());
  const double bytes = 2 * (ranks - 1) / ranks * options_.costs.parameter_bytes;
  double seconds = 0;
  // Ranks on one machine reduce in its memory.
  if (&ranks_.front().program->machine != &ranks_.back().program->machine) {
    for (const Rank& rank : ranks_) {
      const NetworkInterface& network = rank.program->machine.network;
      seconds = std::max(
          seconds, bytes / network.bytes_per_second + 2 * (ranks - 1) * network.latency_seconds);
    }
  }
  seconds *= static_cast<double>(cluster_.reductions);
  computing_ = 1;
  sums_.reduces += seconds * ranks;
  events_.After(seconds, [this] {
    computing_ = 0;
    ++updates_;
    ++sums_.updates;
    sums_.rows += static_cast<double>(RankUnrolls() * cluster_.unroll_length) *
                  static_cast<double>(ranks_.size());
    if (updates_ % cluster_.publish_every_updates == 0) Publish();
    for (Rank& rank : ranks_) rank.waiting_since = events_.now();
    FetchAll();
    TryUpdate();
  });
}

void Cluster::Publish() {
  const std::int64_t version = ++version_;
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    Deliver(events_, ranks_.front().program->machine.network, servers_[i].program->machine.network,
            options_.costs.parameter_bytes,
            [this, i, version] { servers_[i].version = std::max(servers_[i].version, version); });
  }
}

std::vector<MeteredResource> Cluster::Resources() const {
  std::vector<MeteredResource> resources;
  machines_.AddResources(resources);
  const auto add = [&resources](const std::string& name, const auto& all, const auto& program_of) {
    double threads = 0;
    double occupied = 0;
    double on_devices = 0;
    double devices = 0;
    for (const auto& one : all) {
      const SimulatedProgram& program = program_of(one);
      threads += static_cast<double>(program.process.threads());
      // A thread waits for its device, which others may be using.
      occupied += program.process.occupied_seconds() + program.on_device.occupied_seconds();
      on_devices += program.devices.busy_seconds();
      devices += program.devices.processors();
    }
    resources.push_back({"threads of " + name, occupied, threads});
    resources.push_back({"device of " + name, on_devices, devices});
  };
  const auto self = [](const std::unique_ptr<SimulatedProgram>& one) -> const SimulatedProgram& {
    return *one;
  };
  const auto inner = [](const auto& one) -> const SimulatedProgram& { return *one.program; };
  add("actors", actors_, self);
  add("mock servers", services_, self);
  add("inference", servers_, inner);
  add("replay", shards_, inner);
  add("learners", ranks_, inner);
  return resources;
}

std::vector<ResourceUse> Cluster::ProcessorTime() const {
  const auto sum = [](const auto& all, const auto& program_of) {
    double seconds = 0;
    for (const auto& one : all) seconds += program_of(one).process.worked_seconds();
    return seconds;
  };
  const auto self = [](const auto& one) -> const SimulatedProgram& { return *one; };
  const auto inner = [](const auto& one) -> const SimulatedProgram& { return *one.program; };
  return {{.resource = "actor", .share = sum(actors_, self)},
          {.resource = "mockserver", .share = sum(services_, self)},
          {.resource = "inference", .share = sum(servers_, inner)},
          {.resource = "replay", .share = sum(shards_, inner)},
          {.resource = "learner", .share = sum(ranks_, inner)}};
}

SimulationResult Cluster::ResultOf(double seconds, const std::vector<MeteredResource>& before,
                                   const std::vector<ResourceUse>& processor_time_before) const {
  SimulationResult result;
  result.seconds = seconds;
  result.environment_steps_per_second = sums_.steps / seconds;
  result.updates_per_second = sums_.updates / seconds;
  result.learner_rows_per_second = sums_.rows / seconds;
  result.staleness = sums_.trained > 0 ? sums_.staleness / sums_.trained : 0;
  const double items = sums_.trained + sums_.stale;
  result.stale_share = items > 0 ? sums_.stale / items : 0;
  result.batch_rows = sums_.batches > 0 ? sums_.batch_rows / sums_.batches : 0;
  const double all = sums_.environment + sums_.inference + sums_.room;
  if (all > 0) {
    result.environment_time = {{.resource = "environment", .share = sums_.environment / all},
                               {.resource = "inference", .share = sums_.inference / all},
                               {.resource = "room in replay", .share = sums_.room / all}};
  }
  const double rank_seconds = seconds * static_cast<double>(ranks_.size());
  double waits = sums_.waits;
  if (computing_ == 0) {
    for (const Rank& rank : ranks_) waits += events_.now() - rank.waiting_since;
  }
  result.learner_waits_share = waits / rank_seconds;
  result.learner_reduces_share = sums_.reduces / rank_seconds;
  const std::vector<MeteredResource> now = Resources();
  for (std::size_t i = 0; i < now.size(); ++i) {
    const double used = now[i].used - before[i].used;
    if (!(used > 0)) continue;
    result.resources.push_back(
        {.resource = now[i].name, .share = used / (now[i].capacity * seconds)});
  }
  std::ranges::stable_sort(result.resources, [](const ResourceUse& a, const ResourceUse& b) {
    return a.share > b.share;
  });
  result.processor_time = ProcessorTime();
  for (std::size_t i = 0; i < result.processor_time.size(); ++i) {
    double& share = result.processor_time[i].share;
    share = (share - processor_time_before[i].share) / seconds;
  }
  result.events = events_.events();
  result.limit = LimitOf(result);
  return result;
}

absl::StatusOr<SimulationResult> Cluster::Run(double seconds) {
  for (Block& block : blocks_) Step(&block);
  const double warm_up = seconds / 3;
  const auto too_many = [] {
    return runtime::ResourceExhausted(
        "the simulation takes more than 400 million events; simulate fewer seconds or fewer "
        "processes");
  };
  if (!events_.RunUntil(warm_up, kMostEvents)) return too_many();
  sums_ = {};
  const std::vector<MeteredResource> before = Resources();
  const std::vector<ResourceUse> processor_time = ProcessorTime();
  for (Rank& rank : ranks_) rank.waiting_since = events_.now();
  if (!events_.RunUntil(seconds, kMostEvents)) return too_many();
  return ResultOf(seconds - warm_up, before, processor_time);
}

}  // namespace

absl::StatusOr<SimulationResult> Simulate(const SimulatedCluster& cluster,
                                          const SimulationOptions& options, double seconds) {
  const SimulatedCosts& costs = options.costs;
  if (!(costs.actor_step_us + costs.service_step_us + costs.environment_wait_us > 0) ||
      !(costs.inference_batch_us + costs.inference_row_us > 0) ||
      !(costs.learner_update_us + costs.learner_row_us > 0)) {
    return runtime::InvalidArgument(
        "a step, a batch of inference and an update must each take some time: set "
        "simulation.costs, or measure them from a run");
  }
  return Cluster(cluster, options).Run(seconds);
}

}  // namespace shoal::cli
