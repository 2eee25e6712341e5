// SPDX-License-Identifier: Apache-2.0
// Tables that are larger than their memory, with a real database and over a real network.
#include <fcntl.h>
#include <grpcpp/grpcpp.h>
#include <linux/magic.h>
#include <rocksdb/file_system.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "platform/runtime/random.h"
#include "platform/transport/channel.h"
#include "platform/transport/protocol.h"
#include "proto/replay.grpc.pb.h"
#include "replay/durability/disk_journal.h"
#include "replay/shard.h"
#include "tests/doubles/eventually.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/replay/durability/lossy_env.h"
#include "tests/replay/shard_server.h"
#include "tests/replay/values.h"

namespace shoal::replay::durability {
namespace {

constexpr std::size_t kLargePayload = 20000;
constexpr std::size_t kMemory = 10 * kLargePayload;

// Incompressible, and another one for each number.
std::string LargePayload(std::uint64_t number) {
  runtime::Random random(number);
  std::string payload(kLargePayload, '\0');
  for (char& byte : payload) byte = static_cast<char>(random());
  return payload;
}

std::shared_ptr<Item> LargeItem(std::uint64_t number) {
  auto item = ItemNumber(number);
  item->payload = LargePayload(number);
  return item;
}

TableOptions LargeTable(Durability durability, std::uint32_t max_times_sampled = 1) {
  return {
      .memory_bytes = kMemory, .max_times_sampled = max_times_sampled, .durability = durability};
}

// A shard with one table that is larger than its memory.
class LargeShard {
 public:
  LargeShard(const std::string& directory, const TableOptions& table, rocksdb::Env* env = nullptr) {
    auto journal = DiskJournal::Create(
        {.directory = directory, .retry = std::chrono::milliseconds(1), .env = env});
    REQUIRE(journal.ok());
    auto shard = Shard::Create({.tables = {table}, .contents = {}}, runtime::SystemClock(),
                               *std::move(journal));
    REQUIRE(shard.ok());
    shard_ = *std::move(shard);
    reader_ = *shard_->OpenReader();
  }

  // Inserts the item once the table takes it.
  void Insert(std::uint64_t number) const {
    auto item = LargeItem(number);
    absl::Status status;
    REQUIRE(doubles::Eventually([&] {
      status = shard_->Insert("unrolls", item);
      return !absl::IsResourceExhausted(status);
    }));
    REQUIRE(status.ok());
  }
  void Fill(std::uint64_t first, std::uint64_t last) const {
    for (std::uint64_t number = first; number <= last; ++number) Insert(number);
    AwaitWritten();
  }
  void AwaitWritten() const {
    REQUIRE(doubles::Eventually([&] { return shard_->stats().journal.waiting_changes == 0; }));
  }
  // Samples so often, reads the items, and returns their numbers. Lost ones are left out.
  std::vector<std::uint64_t> Sample(std::size_t most, std::size_t at_once = 1) const {
    std::vector<std::uint64_t> numbers;
    for (std::size_t i = 0; i < most; ++i) {
      SampleBatch batch = shard_->Sample("unrolls", reader_, at_once, kLargePayload * at_once);
      if (batch.samples.empty()) break;
      for (std::size_t first = 0; first < batch.samples.size();) {
        const std::size_t count = Neighbours(batch, first);
        ReadParts(batch, first, count);
        first += count;
      }
      shard_->FinishReads(batch);
      for (const SampledItem& sample : batch.samples) {
        numbers.push_back(sample.item->id.environment_id);
        REQUIRE(sample.item->payload == LargePayload(numbers.back()));
      }
    }
    return numbers;
  }
  TableStats stats() const { return shard_->stats().tables[0]; }
  Shard& shard() const { return *shard_; }

 private:
  std::unique_ptr<Shard> shard_;
  int reader_ = 0;
};

std::vector<std::uint64_t> Range(std::uint64_t first, std::uint64_t last) {
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t number = first; number <= last; ++number) numbers.push_back(number);
  return numbers;
}

TEST_CASE("a table that is ten times its memory gives each item whole and in order") {
  for (const Durability durability : {Durability::kNone, Durability::kBatch, Durability::kAlways}) {
    const doubles::TemporaryFolder folder;
    const LargeShard large(folder.path(), LargeTable(durability));
    large.Fill(1, 100);
    REQUIRE(large.stats().size == 100);
    REQUIRE(large.stats().memory_bytes <= kMemory);
    REQUIRE(large.stats().disk_bytes > 80 * kLargePayload);
    REQUIRE(large.Sample(1000) == Range(1, 100));
    REQUIRE(large.stats().reads_total > 80);
    REQUIRE(large.stats().lost_total == 0);
  }
}

TEST_CASE("a durable table that is larger than its memory is there again, and as small") {
  const doubles::TemporaryFolder folder;
  LossyEnv env;
  {
    const LargeShard large(folder.path(), LargeTable(Durability::kAlways), &env);
    large.Fill(1, 60);
    REQUIRE(large.Sample(5) == Range(1, 5));
    large.AwaitWritten();
    env.Die();
  }
  env.Revive();
  const LargeShard large(folder.path(), LargeTable(Durability::kAlways), &env);
  REQUIRE(large.stats().size == 55);
  REQUIRE(large.stats().memory_bytes <= kMemory);
  REQUIRE(large.stats().memory_bytes + large.stats().disk_bytes == large.stats().bytes);
  large.Fill(61, 70);
  REQUIRE(large.Sample(1000) == Range(6, 70));
}

TEST_CASE("what a table without durability spilled is deleted when the shard begins again") {
  const doubles::TemporaryFolder folder;
  const auto blob_bytes = [&folder] {
    std::uintmax_t bytes = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
      if (entry.path().extension() == ".blob") bytes += entry.file_size();
    }
    return bytes;
  };
  // Opening the database again writes what its log holds to files.
  LargeShard(folder.path(), LargeTable(Durability::kNone)).Fill(1, 100);
  const LargeShard large(folder.path(), LargeTable(Durability::kNone));
  REQUIRE(blob_bytes() == 0);
  REQUIRE(large.stats().size == 0);
  large.Fill(201, 300);
  REQUIRE(large.Sample(1000) == Range(201, 300));
}

TEST_CASE("a durable table keeps its items when one beside it only spills") {
  const doubles::TemporaryFolder folder;
  for (int life = 0; life < 2; ++life) {
    TableOptions spilling = LargeTable(Durability::kNone);
    spilling.name = "spilling";
    auto journal = DiskJournal::Create({.directory = folder.path()});
    REQUIRE(journal.ok());
    const auto shard =
        *Shard::Create({.tables = {spilling, LargeTable(Durability::kAlways)}, .contents = {}},
                       runtime::SystemClock(), *std::move(journal));
    REQUIRE(shard->stats().tables[0].size == 0);
    REQUIRE(shard->stats().tables[1].size == (life == 0 ? 0 : 15));
    for (std::uint64_t number = 1; number <= 15; ++number) {
      for (const char* const table : {"spilling", "unrolls"}) {
        auto item = LargeItem(number);
        REQUIRE(doubles::Eventually([&] { return shard->Insert(table, item).ok(); }));
      }
    }
    REQUIRE(doubles::Eventually([&] { return shard->stats().journal.waiting_changes == 0; }));
  }
}

TEST_CASE("a full disk puts inserts off when the memory is full, and nothing is lost") {
  const doubles::TemporaryFolder folder;
  LossyEnv env;
  const LargeShard large(folder.path(), LargeTable(Durability::kNone), &env);
  large.AwaitWritten();
  env.Fill();
  absl::Status status;
  std::uint64_t inserted = 0;
  while (status.ok()) {
    auto item = LargeItem(inserted + 1);
    status = large.shard().Insert("unrolls", item);
    if (status.ok()) ++inserted;
  }
  REQUIRE(absl::IsResourceExhausted(status));
  REQUIRE(runtime::Message(status).find("written to disk") != std::string::npos);
  REQUIRE(doubles::Eventually([&] { return large.shard().stats().journal.failing; }));
  REQUIRE(inserted < 10);
  REQUIRE(large.shard().tables()[0].insert_wait == Wait::kMemory);
  // What is in memory is given out all the same.
  REQUIRE(large.Sample(2) == Range(1, 2));
  env.Free();
  large.Fill(inserted + 1, 50);
  REQUIRE(large.Sample(1000) == Range(3, 50));
}

TEST_CASE("while the disk fails a table waits with what is on it, and says so") {
  const doubles::TemporaryFolder folder;
  LossyEnv env;
  const LargeShard large(folder.path(), LargeTable(Durability::kAlways), &env);
  large.Fill(1, 30);
  env.Fill();
  large.Insert(31);
  REQUIRE(doubles::Eventually([&] { return large.shard().stats().journal.failing; }));
  REQUIRE(large.Sample(1).empty());
  REQUIRE(large.shard().tables()[0].sample_wait == Wait::kDisk);
  env.Free();
  REQUIRE(doubles::Eventually([&] { return !large.shard().stats().journal.failing; }));
  REQUIRE(large.Sample(1000) == Range(1, 31));
}

// Changes a byte in the middle of the payload of this item, wherever the shard's files have it, and
// returns how many places that were.
int DamagePayload(const std::string& directory, std::uint64_t number) {
  int places = 0;
  const std::string payload = LargePayload(number);
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    const std::size_t at = bytes.find(payload);
    if (at == std::string::npos) continue;
    file.clear();
    file.seekp(static_cast<std::streamoff>(at + kLargePayload / 2));
    file.put(static_cast<char>(~payload[kLargePayload / 2]));
    ++places;
  }
  return places;
}

// Has all payloads in files of their own, in place of the log that comes first.
void FlushByRestart(const std::string& directory, std::uint64_t items) {
  LargeShard(directory, LargeTable(Durability::kAlways)).Fill(1, items);
  const LargeShard opened(directory, LargeTable(Durability::kAlways));
}

TEST_CASE("a payload that is damaged on disk costs its item when it is sampled, and no other") {
  const doubles::TemporaryFolder folder;
  FlushByRestart(folder.path(), 40);
  const LargeShard large(folder.path(), LargeTable(Durability::kAlways));
  REQUIRE(large.stats().disk_bytes > 0);
  REQUIRE(DamagePayload(folder.path(), 30) == 1);
  std::vector<std::uint64_t> expected = Range(1, 40);
  std::erase(expected, 30);
  std::vector<std::uint64_t> given;
  for (int i = 0; i < 40; ++i) {
    for (const std::uint64_t number : large.Sample(1)) given.push_back(number);
  }
  REQUIRE(given == expected);
  REQUIRE(large.stats().lost_total == 1);
}

TEST_CASE("of payloads that are read together a damaged one costs its item, and no other") {
  const doubles::TemporaryFolder folder;
  FlushByRestart(folder.path(), 40);
  const LargeShard large(folder.path(), LargeTable(Durability::kAlways));
  REQUIRE(DamagePayload(folder.path(), 30) == 1);
  std::vector<std::uint64_t> expected = Range(1, 40);
  std::erase(expected, 30);
  REQUIRE(large.Sample(3, 16) == expected);
  REQUIRE(large.stats().lost_total == 1);
}

TEST_CASE("a file that is cut off costs the items that it no longer has, and no other") {
  const doubles::TemporaryFolder folder;
  FlushByRestart(folder.path(), 40);
  const LargeShard large(folder.path(), LargeTable(Durability::kAlways));
  // The file is open from now on.
  REQUIRE(large.Sample(1, 16) == Range(1, 16));
  const std::string payload = LargePayload(30);
  int cut = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    const std::size_t at = bytes.find(payload);
    if (at == std::string::npos) continue;
    std::filesystem::resize_file(entry.path(), at + kLargePayload / 2);
    ++cut;
  }
  REQUIRE(cut == 1);
  REQUIRE(large.Sample(2, 16) == Range(17, 29));
  REQUIRE(large.stats().lost_total == 11);
}

// A disk that reads nothing past the page cache, and counts what it refused.
class NoDirectReads final : public rocksdb::FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "NoDirectReads"; }
  rocksdb::IOStatus NewRandomAccessFile(const std::string& name,
                                        const rocksdb::FileOptions& options,
                                        std::unique_ptr<rocksdb::FSRandomAccessFile>* file,
                                        rocksdb::IODebugContext* debug) override {
    std::unique_ptr<rocksdb::FSRandomAccessFile> opened;
    rocksdb::IOStatus status =
        FileSystemWrapper::NewRandomAccessFile(name, options, &opened, debug);
    if (!status.ok() || !options.use_direct_reads) {
      *file = std::move(opened);
    } else {
      *file = std::make_unique<File>(std::move(opened), refused_);
    }
    return status;
  }
  int refused() const { return refused_; }

 private:
  class File final : public rocksdb::FSRandomAccessFileOwnerWrapper {
   public:
    File(std::unique_ptr<rocksdb::FSRandomAccessFile>&& file, std::atomic<int>& refused)
        : FSRandomAccessFileOwnerWrapper(std::move(file)), refused_(refused) {}
    rocksdb::IOStatus Read(std::uint64_t, std::size_t, const rocksdb::IOOptions&, rocksdb::Slice*,
                           char*, rocksdb::IODebugContext*) const override {
      ++refused_;
      return rocksdb::IOStatus::IOError("bad sector");
    }

   private:
    std::atomic<int>& refused_;
  };

  std::atomic<int> refused_{0};
};

TEST_CASE("what cannot be read past the page cache is read through it") {
  const doubles::TemporaryFolder folder;
  FlushByRestart(folder.path(), 40);
  const auto disk = std::make_shared<NoDirectReads>(rocksdb::Env::Default()->GetFileSystem());
  const auto env = rocksdb::NewCompositeEnv(disk);
  const LargeShard large(folder.path(), LargeTable(Durability::kAlways), env.get());
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    const int file = ::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC);
    ::fsync(file);
    ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    ::close(file);
  }
  REQUIRE(large.Sample(3, 16) == Range(1, 40));
  REQUIRE(large.stats().lost_total == 0);
  struct statfs place = {};
  REQUIRE(::statfs(folder.path().c_str(), &place) == 0);
  if (place.f_type == TMPFS_MAGIC) {
    WARN("the folder is in memory, so nothing is read past the page cache");
  } else {
    REQUIRE(disk->refused() > 0);
  }
}

// A disk that reads payloads only one at a time and through the page cache, and counts what it
// refused.
class NoJoinedReads final : public rocksdb::FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "NoJoinedReads"; }
  rocksdb::IOStatus NewRandomAccessFile(const std::string& name,
                                        const rocksdb::FileOptions& options,
                                        std::unique_ptr<rocksdb::FSRandomAccessFile>* file,
                                        rocksdb::IODebugContext* debug) override {
    if (options.use_direct_reads) return rocksdb::IOStatus::InvalidArgument("no O_DIRECT here");
    rocksdb::IOStatus status = FileSystemWrapper::NewRandomAccessFile(name, options, file, debug);
    if (status.ok() && name.ends_with(".blob")) {
      *file = std::make_unique<File>(std::move(*file), refused_);
    }
    return status;
  }
  int refused() const { return refused_; }

 private:
  class File final : public rocksdb::FSRandomAccessFileOwnerWrapper {
   public:
    File(std::unique_ptr<rocksdb::FSRandomAccessFile>&& file, std::atomic<int>& refused)
        : FSRandomAccessFileOwnerWrapper(std::move(file)), refused_(refused) {}
    rocksdb::IOStatus MultiRead(rocksdb::FSReadRequest*, std::size_t, const rocksdb::IOOptions&,
                                rocksdb::IODebugContext*) override {
      ++refused_;
      return rocksdb::IOStatus::IOError("bad sector");
    }

   private:
    std::atomic<int>& refused_;
  };

  std::atomic<int> refused_{0};
};

TEST_CASE("what cannot be read with others is read alone") {
  const doubles::TemporaryFolder folder;
  FlushByRestart(folder.path(), 40);
  const auto disk = std::make_shared<NoJoinedReads>(rocksdb::Env::Default()->GetFileSystem());
  const auto env = rocksdb::NewCompositeEnv(disk);
  const LargeShard large(folder.path(), LargeTable(Durability::kAlways), env.get());
  REQUIRE(large.Sample(3, 16) == Range(1, 40));
  REQUIRE(large.stats().lost_total == 0);
  REQUIRE(disk->refused() > 0);
}

class LargeServer {
 public:
  LargeServer(const std::string& directory, const TableOptions& table) {
    auto journal = DiskJournal::Create({.directory = directory});
    REQUIRE(journal.ok());
    server_ = std::make_unique<ShardServer>(table, InsertStreamOptions{}, "127.0.0.1:0",
                                            ContentStoreOptions{}, *std::move(journal));
  }

  // Samples so many items over a stream with this credit, and returns their numbers. It asks for
  // no more than these, so that none is lost on its way.
  std::vector<std::uint64_t> Sample(std::size_t items, std::uint32_t credit) const {
    const auto stub = proto::Replay::NewStub(transport::CreateChannel(server_->address()));
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + doubles::kLongWait);
    const auto call = stub->Sample(&context);
    proto::SampleRequest request;
    request.mutable_hello()->set_protocol_version(transport::kProtocolVersion);
    request.mutable_hello()->set_table("unrolls");
    request.mutable_hello()->set_world(1);
    std::size_t asked = std::min<std::size_t>(credit, items);
    request.set_credit(static_cast<std::uint32_t>(asked));
    REQUIRE(call->Write(request));
    std::vector<std::uint64_t> numbers;
    proto::SampleReply reply;
    while (numbers.size() < items && call->Read(&reply)) {
      for (const proto::SampledItem& sample : reply.items()) {
        numbers.push_back(sample.item().id().environment_id());
        REQUIRE(sample.item().payload() == LargePayload(numbers.back()));
      }
      const std::size_t more =
          std::min(items - asked, static_cast<std::size_t>(reply.items_size()));
      if (more == 0) continue;
      asked += more;
      request.Clear();
      request.set_credit(static_cast<std::uint32_t>(more));
      call->Write(request);
    }
    context.TryCancel();
    return numbers;
  }
  // Asks for items, and leaves as soon as the stream is welcome.
  void Leave(std::uint32_t credit) const {
    const auto stub = proto::Replay::NewStub(transport::CreateChannel(server_->address()));
    grpc::ClientContext context;
    const auto call = stub->Sample(&context);
    proto::SampleRequest request;
    request.mutable_hello()->set_protocol_version(transport::kProtocolVersion);
    request.mutable_hello()->set_table("unrolls");
    request.mutable_hello()->set_world(1);
    request.set_credit(credit);
    REQUIRE(call->Write(request));
    proto::SampleReply welcome;
    REQUIRE(call->Read(&welcome));
    context.TryCancel();
  }
  void Fill(std::uint64_t first, std::uint64_t last) const {
    for (std::uint64_t number = first; number <= last; ++number) {
      auto item = LargeItem(number);
      REQUIRE(doubles::Eventually([&] { return shard().Insert("unrolls", item).ok(); }));
    }
  }
  proto::TableInfo Info() const {
    const auto stub = proto::Replay::NewStub(transport::CreateChannel(server_->address()));
    grpc::ClientContext context;
    proto::InfoReply info;
    REQUIRE(stub->Info(&context, {}, &info).ok());
    return info.tables(0);
  }
  Shard& shard() const { return server_->shard(); }

 private:
  std::unique_ptr<ShardServer> server_;
};

TEST_CASE("a stream gives a table that is larger than its memory in order, whatever its credit") {
  for (const std::uint32_t credit : {1U, 7U, 1000U}) {
    const doubles::TemporaryFolder folder;
    const LargeServer server(folder.path(), LargeTable(Durability::kNone));
    server.Fill(1, 120);
    REQUIRE(server.Sample(120, credit) == Range(1, 120));
    const proto::TableInfo info = server.Info();
    REQUIRE(info.max_memory_bytes() == kMemory);
    REQUIRE(info.reads_total() > 80);
    REQUIRE(info.read_wait_seconds_total() > 0);
    REQUIRE(info.memory_bytes() == 0);
    REQUIRE(info.disk_bytes() == 0);
  }
}

TEST_CASE("several streams share a table that is larger than its memory, each item once") {
  const doubles::TemporaryFolder folder;
  const LargeServer server(folder.path(), LargeTable(Durability::kAlways));
  server.Fill(1, 120);
  std::vector<std::vector<std::uint64_t>> given(3);
  {
    std::vector<runtime::Thread> threads;
    for (std::vector<std::uint64_t>& numbers : given) {
      threads.emplace_back("sampling", [&] { numbers = server.Sample(40, 4); });
    }
    for (runtime::Thread& thread : threads) thread.Join();
  }
  std::multiset<std::uint64_t> all;
  for (const auto& numbers : given) {
    REQUIRE(std::is_sorted(numbers.begin(), numbers.end()));
    all.insert(numbers.begin(), numbers.end());
  }
  const std::vector<std::uint64_t> expected = Range(1, 120);
  REQUIRE(std::vector<std::uint64_t>(all.begin(), all.end()) == expected);
}

TEST_CASE("a stream goes on behind a damaged payload, and its credit with it") {
  const doubles::TemporaryFolder folder;
  FlushByRestart(folder.path(), 40);
  const LargeServer server(folder.path(), LargeTable(Durability::kAlways));
  REQUIRE(DamagePayload(folder.path(), 30) == 1);
  std::vector<std::uint64_t> expected = Range(1, 40);
  std::erase(expected, 30);
  REQUIRE(server.Sample(39, 1) == expected);
  REQUIRE(server.Info().lost_total() == 1);
}

TEST_CASE("a stream that ends while its payloads are read harms nothing") {
  const doubles::TemporaryFolder folder;
  const LargeServer server(folder.path(), LargeTable(Durability::kNone, 100));
  server.Fill(1, 100);
  for (int i = 0; i < 20; ++i) server.Leave(100);
  REQUIRE(server.shard().stats().tables[0].lost_total == 0);
}

}  // namespace
}  // namespace shoal::replay::durability
