// SPDX-License-Identifier: Apache-2.0
// A replay process with durable tables, larger than their memory, that is killed under load, again
// and again. The proof
// `./test --bars replay-kills` kills it more often.
#include <grpcpp/grpcpp.h>
#include <signal.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>

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
constexpr std::uint32_t kMostUses = 2;
constexpr double kSamplesPerInsert = 1.5;
constexpr double kErrorBuffer = 200;
constexpr int kItemsPerMessage = 8;

constexpr char kConfiguration[] = R"(
[[replay.table]]
name = "kept"
max_size = 1000000
memory_bytes = 65536
durability = "always"

[[replay.table]]
name = "used"
sampler = "uniform"
max_size = 1000000
max_times_sampled = 2
memory_bytes = 65536
samples_per_insert = 1.5
error_buffer = 200
durability = "always"
)";

// A replay process that comes back at the same address after a kill.
class ReplayProcess {
 public:
  ReplayProcess() : configuration_(folder_.Write("replay.toml", kConfiguration)) {
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

proto::Item MakeItem(std::uint64_t number) {
  proto::Item item;
  item.mutable_id()->set_environment_id(number);
  item.set_table(number % 2 == 0 ? "kept" : "used");
  item.mutable_oldest_version()->set_epoch(1);
  item.mutable_newest_version()->set_epoch(1);
  item.set_steps(kSteps);
  item.set_payload(std::string(300, static_cast<char>('a' + number % 26)));
  return item;
}

// Inserts items without end, and sends those that were not acknowledged again over a new stream.
class Inserting {
 public:
  explicit Inserting(const std::string& address)
      : address_(address), thread_("inserting", [this] {
          while (!stop_) OneStream();
        }) {}
  ~Inserting() { Stop(); }

  void Stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.Join();
  }
  std::size_t acknowledged_count() const { return count_; }
  // REQUIRES: stopped.
  const std::set<std::uint64_t>& acknowledged() const { return acknowledged_; }
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
      for (const std::uint64_t number : waiting_) *request.add_items() = MakeItem(number);
      alive = call->Write(request);
      for (int answers = 0; alive && answers < request.items_size();
           answers += reply.items_size()) {
        alive = call->Read(&reply);
        if (!alive) break;
        credit = reply.credit();
        for (const proto::ItemStatus& status : reply.items()) Take(status);
      }
    }
    context.TryCancel();
  }

  void Take(const proto::ItemStatus& status) {
    if (status.code() != grpc::OK) return;
    const std::uint64_t number = status.id().environment_id();
    acknowledged_.insert(number);
    std::erase(waiting_, number);
    ++count_;
  }

  const std::string address_;
  std::deque<std::uint64_t> waiting_;
  std::uint64_t next_ = 1;
  std::set<std::uint64_t> acknowledged_;
  // Read by other threads while the thread runs.
  std::atomic<std::size_t> count_ = 0;
  std::atomic<bool> stop_ = false;
  runtime::Thread thread_;
};

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
  // The numbers of the uses that came, by item. REQUIRES: stopped.
  const std::map<std::uint64_t, std::multiset<std::uint32_t>>& uses() const { return uses_; }

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
        if (sample.item().payload() != MakeItem(number).payload()) ++wrong_;
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
  std::map<std::uint64_t, std::multiset<std::uint32_t>> uses_;
  std::atomic<std::size_t> count_ = 0;
  std::atomic<std::size_t> wrong_ = 0;
  std::atomic<bool> stop_ = false;
  runtime::Mutex mutex_;
  grpc::ClientContext* context_ ABSL_GUARDED_BY(mutex_) = nullptr;
  runtime::Thread thread_;
};

proto::InfoReply Info(const std::string& address) {
  const auto stub = proto::Replay::NewStub(transport::CreateChannel(address));
  grpc::ClientContext context;
  context.set_wait_for_ready(true);
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
  proto::InfoReply info;
  REQUIRE(stub->Info(&context, {}, &info).ok());
  return info;
}

TEST_CASE("a shard killed under load has every acknowledged item once, and gives none too often",
          "[replay_kills]") {
  ReplayProcess replay;
  std::mt19937_64 random(1);
  Inserting inserting(replay.address());
  Sampling sampling(replay.address(), "used");
  const int kills = doubles::EnvironmentNumber("SHOAL_REPLAY_KILLS", 5);
  for (int kill = 0; kill < kills; ++kill) {
    INFO("kill " << kill);
    const std::size_t acknowledged = inserting.acknowledged_count() + 1 + random() % 200;
    const std::size_t sampled = sampling.count() + 1 + random() % 50;
    REQUIRE(doubles::Eventually([&] {
      return inserting.acknowledged_count() >= acknowledged && sampling.count() >= sampled;
    }));
    replay.KillAndRestart();
  }
  inserting.Stop();
  sampling.Stop();
  replay.StopAndRestart();

  // The limiter holds over all lives: what was given out stays within what was inserted.
  const proto::InfoReply info = Info(replay.address());
  const proto::TableInfo& used = info.tables(1);
  REQUIRE(used.name() == "used");
  REQUIRE(sampling.wrong() == 0);
  REQUIRE(info.tables(0).disk_bytes() > 0);
  REQUIRE(used.sampled_total() >= sampling.count());
  REQUIRE(static_cast<double>(used.sampled_total() * kSteps) <=
          kSamplesPerInsert * static_cast<double>(used.inserted_total() * kSteps) + kErrorBuffer +
              kSteps);
  for (const auto& [number, uses] : sampling.uses()) {
    INFO("item " << number);
    REQUIRE(uses.size() <= kMostUses);
    REQUIRE(*uses.rbegin() <= kMostUses);
    // Each use has a number of its own.
    REQUIRE(std::set<std::uint32_t>(uses.begin(), uses.end()).size() == uses.size());
  }

  const std::size_t kept = info.tables(0).size();
  Sampling draining(replay.address(), "kept");
  REQUIRE(doubles::Eventually([&] { return draining.count() >= kept; }));
  REQUIRE(doubles::Eventually([&] { return Info(replay.address()).tables(0).size() == 0; }));
  draining.Stop();
  REQUIRE(draining.wrong() == 0);
  for (const auto& [number, uses] : draining.uses()) {
    INFO("item " << number);
    REQUIRE(number <= inserting.last());
    REQUIRE(uses.size() == 1);
  }
  for (const std::uint64_t number : inserting.acknowledged()) {
    INFO("item " << number);
    if (number % 2 == 0) REQUIRE(draining.uses().contains(number));
  }
}

}  // namespace
}  // namespace shoal::tests
