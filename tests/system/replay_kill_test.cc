// SPDX-License-Identifier: Apache-2.0
// A replay process with durable tables, some of them larger than their memory, that is killed under
// load, again and again. The proof `./test --bars replay-kills` kills it more often.
#include <grpcpp/grpcpp.h>
#include <signal.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/cluster/child_process.h"
#include "platform/runtime/atomic_file.h"
#include "platform/runtime/mutex.h"
#include "platform/runtime/thread.h"
#include "platform/transport/channel.h"
#include "platform/transport/protocol.h"
#include "proto/replay.grpc.pb.h"
#include "tests/doubles/environment_number.h"
#include "tests/doubles/eventually.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::tests {
namespace {

constexpr std::uint32_t kSteps = 10;
constexpr std::uint32_t kMostUses = 32;
constexpr double kSamplesPerInsert = 1.5;
constexpr double kErrorBuffer = 200;
constexpr int kItemsPerMessage = 8;

using Steady = std::chrono::steady_clock;

// Uses of "used" wait for the disk one by one, because its limiter counts them. Those of "blocks"
// wait once for a block of four.
constexpr char kAlways[] = R"(
[[replay.table]]
name = "kept"
max_size = 1000000
memory_bytes = 65536
durability = "always"

[[replay.table]]
name = "used"
sampler = "uniform"
max_size = 1000000
max_times_sampled = 32
memory_bytes = 65536
samples_per_insert = 1.5
error_buffer = 200
durability = "always"

[[replay.table]]
name = "blocks"
sampler = "uniform"
max_size = 1000000
max_times_sampled = 32
min_size = 100
durability = "always"
)";

constexpr std::chrono::milliseconds kWindow(100);
constexpr char kBatch[] = R"(
[[replay.table]]
name = "batch"
max_size = 1000000
durability = "batch"
batch_window_ms = 100
)";

// A replay process that comes back at the same address after a kill.
class ReplayProcess {
 public:
  explicit ReplayProcess(const std::string& configuration)
      : configuration_(folder_.Write("replay.toml", configuration)) {
    Start("127.0.0.1:0");
  }

  void KillAndRestart() {
    process_->Kill();
    process_.reset();
    Start(address_);
  }
  // Ends it as a supervisor does, and starts it again.
  void StopAndRestart() {
    process_->RequestStop();
    REQUIRE(doubles::Eventually([this] { return process_->Poll().has_value(); }));
    REQUIRE(process_->Poll()->code == 0);
    Start(address_);
  }
  const std::string& address() const { return address_; }

 private:
  void Start(const std::string& listen) {
    const std::string log = folder_.At("log-" + std::to_string(starts_++));
    auto process =
        cli::ChildProcess::Start({.name = "replay",
                                  .command = {SHOAL_PROGRAMS "/replay", "--config", configuration_,
                                              "--set", "replay.listen=\"" + listen + "\"", "--set",
                                              "replay.directory=\"" + folder_.At("state") + "\""},
                                  .log_path = log});
    REQUIRE(process.ok());
    process_ = *std::move(process);
    static const std::string kListening = "event=listening address=";
    std::string text;
    const bool listens = doubles::Eventually([&] {
      text = runtime::ReadFile(log).value_or("");
      const std::size_t at = text.find(kListening);
      if (at == std::string::npos) return process_->Poll().has_value();
      const std::size_t end = text.find('\n', at);
      if (end == std::string::npos) return false;
      address_ = text.substr(at + kListening.size(), end - at - kListening.size());
      return true;
    });
    INFO(text);
    REQUIRE(listens);
    REQUIRE_FALSE(address_.empty());
    REQUIRE(text.find("record_lost") == std::string::npos);
  }

  doubles::TemporaryFolder folder_;
  const std::string configuration_;
  std::string address_;
  int starts_ = 0;
  std::unique_ptr<cli::ChildProcess> process_;
};

std::string PayloadOf(std::uint64_t number) {
  return std::string(300, static_cast<char>('a' + number % 26));
}

proto::Item MakeItem(std::uint64_t number, const std::string& table) {
  proto::Item item;
  item.mutable_id()->set_environment_id(number);
  item.set_table(table);
  item.mutable_oldest_version()->set_epoch(1);
  item.mutable_newest_version()->set_epoch(1);
  item.set_steps(kSteps);
  item.set_payload(PayloadOf(number));
  return item;
}

// An item that was acknowledged.
struct Acknowledged {
  std::uint64_t number = 0;
  // Of which of the streams that followed each other.
  int stream = 0;
  Steady::time_point sent;
  Steady::time_point answered;
};

// Inserts items without end into tables by turns, and sends those that were not acknowledged again
// over a new stream.
class Inserting {
 public:
  Inserting(const std::string& address, std::vector<std::string> tables)
      : address_(address), tables_(std::move(tables)), thread_("inserting", [this] {
          for (; !stop_; ++stream_) OneStream();
        }) {}
  ~Inserting() { Stop(); }

  void Stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.Join();
  }
  std::size_t acknowledged_count() const { return count_; }
  const std::string& TableOf(std::uint64_t number) const {
    return tables_[number % tables_.size()];
  }
  // In the order of the answers. REQUIRES: stopped.
  const std::vector<Acknowledged>& acknowledged() const { return acknowledged_; }
  std::uint64_t last() const { return next_ - 1; }

 private:
  void OneStream() {
    const auto stub = proto::Replay::NewStub(transport::CreateChannel(address_));
    grpc::ClientContext context;
    context.set_wait_for_ready(true);
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
    const auto call = stub->Insert(&context);
    proto::InsertRequest request;
    request.mutable_hello()->set_protocol_version(transport::kProtocolVersion);
    proto::InsertReply reply;
    bool alive = call->Write(request) && call->Read(&reply);
    std::uint32_t credit = reply.credit();
    while (alive && !stop_) {
      if (credit == 0) {
        alive = call->Read(&reply);
        credit = reply.credit();
        continue;
      }
      while (waiting_.size() < kItemsPerMessage) waiting_.push_back(next_++);
      request.Clear();
      for (const std::uint64_t number : waiting_) {
        *request.add_items() = MakeItem(number, TableOf(number));
      }
      const Steady::time_point sent = Steady::now();
      alive = call->Write(request);
      for (int answers = 0; alive && answers < request.items_size();
           answers += reply.items_size()) {
        alive = call->Read(&reply);
        if (!alive) break;
        credit = reply.credit();
        for (const proto::ItemStatus& status : reply.items()) Take(status, sent);
      }
    }
    context.TryCancel();
  }

  void Take(const proto::ItemStatus& status, Steady::time_point sent) {
    if (status.code() != grpc::OK) return;
    const std::uint64_t number = status.id().environment_id();
    acknowledged_.push_back(
        {.number = number, .stream = stream_, .sent = sent, .answered = Steady::now()});
    std::erase(waiting_, number);
    ++count_;
  }

  const std::string address_;
  const std::vector<std::string> tables_;
  std::deque<std::uint64_t> waiting_;
  std::uint64_t next_ = 1;
  int stream_ = 0;
  std::vector<Acknowledged> acknowledged_;
  // Read by other threads while the thread runs.
  std::atomic<std::size_t> count_ = 0;
  std::atomic<bool> stop_ = false;
  runtime::Thread thread_;
};

// The numbers of the uses that came, by item.
using Uses = std::map<std::uint64_t, std::multiset<std::uint32_t>>;

// Samples from one table without end.
class Sampling {
 public:
  Sampling(const std::string& address, std::string table)
      : address_(address), table_(std::move(table)), thread_("sampling", [this] {
          while (!stop_) OneStream();
        }) {}
  ~Sampling() { Stop(); }

  void Stop() {
    stop_ = true;
    {
      const runtime::MutexLock lock(mutex_);
      if (context_ != nullptr) context_->TryCancel();
    }
    if (thread_.joinable()) thread_.Join();
  }
  std::size_t count() const { return count_; }
  // The number of items that came with another payload than they had.
  std::size_t wrong() const { return wrong_; }
  const std::string& table() const { return table_; }
  // REQUIRES: stopped.
  const Uses& uses() const { return uses_; }

 private:
  void OneStream() {
    const auto stub = proto::Replay::NewStub(transport::CreateChannel(address_));
    grpc::ClientContext context;
    context.set_wait_for_ready(true);
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
    {
      const runtime::MutexLock lock(mutex_);
      if (stop_) return;
      context_ = &context;
    }
    const auto call = stub->Sample(&context);
    proto::SampleRequest request;
    request.mutable_hello()->set_protocol_version(transport::kProtocolVersion);
    request.mutable_hello()->set_table(table_);
    request.mutable_hello()->set_world(1);
    request.set_credit(64);
    proto::SampleReply reply;
    bool alive = call->Write(request);
    while (alive && call->Read(&reply)) {
      for (const proto::SampledItem& sample : reply.items()) {
        const std::uint64_t number = sample.item().id().environment_id();
        uses_[number].insert(sample.times_sampled());
        if (sample.item().payload() != PayloadOf(number)) ++wrong_;
        ++count_;
      }
      request.Clear();
      request.set_credit(static_cast<std::uint32_t>(reply.items_size()));
      if (reply.items_size() > 0) alive = call->Write(request);
    }
    const runtime::MutexLock lock(mutex_);
    context_ = nullptr;
  }

  const std::string address_;
  const std::string table_;
  Uses uses_;
  std::atomic<std::size_t> count_ = 0;
  std::atomic<std::size_t> wrong_ = 0;
  std::atomic<bool> stop_ = false;
  runtime::Mutex mutex_;
  grpc::ClientContext* context_ ABSL_GUARDED_BY(mutex_) = nullptr;
  runtime::Thread thread_;
};

proto::TableInfo Info(const std::string& address, const std::string& table) {
  const auto stub = proto::Replay::NewStub(transport::CreateChannel(address));
  grpc::ClientContext context;
  context.set_wait_for_ready(true);
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
  proto::InfoReply info;
  REQUIRE(stub->Info(&context, {}, &info).ok());
  for (const proto::TableInfo& one : info.tables()) {
    if (one.name() == table) return one;
  }
  FAIL("there is no table " << table);
  return {};
}

void Configure(const std::string& address, const std::string& table, const std::string& setting) {
  const auto stub = proto::Replay::NewStub(transport::CreateChannel(address));
  grpc::ClientContext context;
  proto::ConfigureRequest request;
  request.set_table(table);
  request.add_settings(setting);
  proto::ConfigureReply reply;
  REQUIRE(stub->Configure(&context, request, &reply).ok());
}

// Samples from a table until it is empty and all has come.
Uses Drain(const std::string& address, const std::string& table) {
  constexpr std::chrono::minutes kPatience(10);
  const std::uint64_t before = Info(address, table).sampled_total();
  Sampling sampling(address, table);
  REQUIRE(doubles::Eventually(
      [&] {
        const proto::TableInfo info = Info(address, table);
        return info.size() == 0 && sampling.count() >= info.sampled_total() - before;
      },
      kPatience));
  sampling.Stop();
  REQUIRE(sampling.wrong() == 0);
  return sampling.uses();
}

int Kills() { return doubles::EnvironmentNumber("SHOAL_REPLAY_KILLS", 5); }

TEST_CASE("a shard killed under load has every acknowledged item once, and gives none too often",
          "[replay_kills]") {
  ReplayProcess replay(kAlways);
  std::mt19937_64 random(1);
  Inserting inserting(replay.address(), {"kept", "used", "blocks"});
  Sampling used(replay.address(), "used");
  Sampling blocks(replay.address(), "blocks");
  for (int kill = 0; kill < Kills(); ++kill) {
    INFO("kill " << kill);
    const std::size_t acknowledged = inserting.acknowledged_count() + 1 + random() % 200;
    const std::size_t used_sampled = used.count() + 1 + random() % 50;
    const std::size_t blocks_sampled = blocks.count() + 1 + random() % 500;
    REQUIRE(doubles::Eventually([&] {
      return inserting.acknowledged_count() >= acknowledged && used.count() >= used_sampled &&
             blocks.count() >= blocks_sampled;
    }));
    replay.KillAndRestart();
  }
  inserting.Stop();
  used.Stop();
  blocks.Stop();
  replay.StopAndRestart();

  // The limiter holds over all lives: what was given out stays within what was inserted.
  const proto::TableInfo limited = Info(replay.address(), "used");
  REQUIRE(used.wrong() == 0);
  REQUIRE(blocks.wrong() == 0);
  REQUIRE(Info(replay.address(), "kept").disk_bytes() > 0);
  REQUIRE(limited.sampled_total() >= used.count());
  REQUIRE(static_cast<double>(limited.sampled_total() * kSteps) <=
          kSamplesPerInsert * static_cast<double>(limited.inserted_total() * kSteps) +
              kErrorBuffer + kSteps);

  Configure(replay.address(), "used", "samples_per_insert=0");
  Configure(replay.address(), "blocks", "min_size=1");
  std::map<std::string, Uses> uses = {{"kept", Drain(replay.address(), "kept")},
                                      {"used", Drain(replay.address(), "used")},
                                      {"blocks", Drain(replay.address(), "blocks")}};
  for (const auto& [number, numbers] : uses["kept"]) {
    INFO("item " << number);
    REQUIRE(number <= inserting.last());
    REQUIRE(numbers.size() == 1);
  }
  for (const Sampling* const sampling : {&used, &blocks}) {
    Uses& all = uses[sampling->table()];
    for (const auto& [number, numbers] : sampling->uses()) {
      all[number].insert(numbers.begin(), numbers.end());
    }
    for (const auto& [number, numbers] : all) {
      INFO("item " << number);
      REQUIRE(number <= inserting.last());
      REQUIRE(numbers.size() <= kMostUses);
      REQUIRE(*numbers.rbegin() <= kMostUses);
      // Each use has a number of its own.
      REQUIRE(std::set<std::uint32_t>(numbers.begin(), numbers.end()).size() == numbers.size());
    }
  }
  // So few uses are on their way at a kill that none can be all of an item's.
  for (const Acknowledged& item : inserting.acknowledged()) {
    INFO("item " << item.number);
    REQUIRE(uses[inserting.TableOf(item.number)].contains(item.number));
  }
}

TEST_CASE("a shard that writes batches loses at a kill at most what came within one window, last",
          "[replay_kills]") {
  ReplayProcess replay(kBatch);
  std::mt19937_64 random(1);
  Inserting inserting(replay.address(), {"batch"});
  for (int kill = 0; kill < Kills(); ++kill) {
    INFO("kill " << kill);
    const std::size_t acknowledged = inserting.acknowledged_count() + 1 + random() % 2000;
    REQUIRE(doubles::Eventually([&] { return inserting.acknowledged_count() >= acknowledged; }));
    replay.KillAndRestart();
  }
  inserting.Stop();
  replay.StopAndRestart();

  const Uses left = Drain(replay.address(), "batch");
  for (const auto& [number, numbers] : left) {
    INFO("item " << number);
    REQUIRE(number <= inserting.last());
    REQUIRE(numbers.size() == 1);
  }
  // The last item that was acknowledged on each stream.
  std::map<int, const Acknowledged*> last;
  for (const Acknowledged& item : inserting.acknowledged()) last[item.stream] = &item;
  std::set<int> losing;
  std::size_t lost = 0;
  for (const Acknowledged& item : inserting.acknowledged()) {
    INFO("item " << item.number << " of stream " << item.stream);
    if (left.contains(item.number)) {
      REQUIRE_FALSE(losing.contains(item.stream));
      continue;
    }
    ++lost;
    losing.insert(item.stream);
    REQUIRE(last[item.stream]->sent - item.answered <= kWindow);
  }
  // Otherwise the kills have shown nothing.
  REQUIRE(lost > 0);
}

}  // namespace
}  // namespace shoal::tests
