// SPDX-License-Identifier: Apache-2.0
// Measures a replay table that is larger than its memory: how fast it gives items compared with the
// disk that it reads them from, and how much memory the process takes.
//
//   bench_replay_capacity --directory FOLDER [--sampler uniform|fifo] [--bytes 120000]
//                         [--gigabytes 1] [--memory-gigabytes 0.125] [--seconds 10] [--threads 8]
//                         [--durability none|batch|always] [--chunks]
//
// The table is filled with random bytes, and then sampled as a stream does it, without a network:
// sixteen batches ahead of the one that is taken. A uniform table is sampled for some seconds, a
// FIFO table until it is empty. Each payload is compared with its item's number.
//
// With --chunks the rows of items are in chunks that they share (decision 132), as those of
// recurrent Q-learning are: an item has 81 rows, its environment's next one begins 40 rows later,
// and a chunk has 10 rows. So an item brings four new chunks and uses nine, which three items have
// brought and which lie in three places on the disk, since sixteen environments insert in turn.
// --bytes are those of the 81 rows that an item needs, of the 90 that its chunks have, and a table
// is as large as its chunks, each counted once. The memory is that of chunks and of items together.
// The stream forgets a chunk once no batch on its way uses it.
//
// The disk is measured on the same files before and after, past the page cache and with as many
// threads: reads of what one item has brought at random places, or of 1 MiB from the beginning to
// the end.
// While the table is sampled, a thread removes the files from the page cache ten times a second,
// so that the table has to read them from the disk, too.
//
// Prints one JSON line. Rates depend on what else the machine does; these depend on it less, and
// are those of the whole process, the comparison of payloads and the removal of pages included:
// the processor time for a gigabyte of payloads that was sampled, and the bytes that were written
// for each byte of payloads that was inserted or sampled.
#include <fcntl.h>
#include <unistd.h>

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "platform/content/content_key.h"
#include "platform/runtime/heap.h"
#include "platform/runtime/log.h"
#include "platform/runtime/process_usage.h"
#include "platform/runtime/random.h"
#include "replay/batch_reader.h"
#include "replay/durability/disk_journal.h"
#include "replay/shard.h"
#include "tests/bench/flags.h"

namespace {

using namespace shoal;
using nlohmann::json;
using Steady = std::chrono::steady_clock;
namespace fs = std::filesystem;

constexpr std::size_t kAhead = 16;
constexpr std::size_t kBatchItems = 16;
constexpr std::size_t kBatchBytes = std::size_t{1} << 20;
constexpr std::size_t kPage = 4096;
// Of items with chunks.
constexpr std::size_t kItemRows = 81;
constexpr std::size_t kItemStride = 40;
constexpr std::size_t kChunkRows = 10;
constexpr std::size_t kNewChunks = kItemStride / kChunkRows;
constexpr std::size_t kItemChunks = (kItemRows + kChunkRows - 1) / kChunkRows;
constexpr std::size_t kEnvironments = 16;

struct Settings {
  std::string directory;
  std::string sampler = "uniform";
  std::string durability = "none";
  std::size_t bytes = 120000;
  double gigabytes = 1;
  double memory_gigabytes = 0.125;
  double seconds = 10;
  std::size_t threads = 8;
  bool chunks = false;

  std::size_t row_bytes() const { return bytes / kItemRows; }
  std::size_t chunk_bytes() const { return kChunkRows * row_bytes(); }
  // What an item brings that no other has brought. It lies side by side on the disk.
  std::size_t new_bytes() const { return chunks ? kNewChunks * chunk_bytes() : bytes; }
  std::size_t needed_bytes() const { return chunks ? kItemRows * row_bytes() : bytes; }
  // What is read at once.
  std::size_t read_bytes() const { return new_bytes(); }
};

double Since(Steady::time_point start) {
  return std::chrono::duration<double>(Steady::now() - start).count();
}

[[noreturn]] void Stop(const std::string& reason) {
  std::fprintf(stderr, "error: %s\n", reason.c_str());
  std::exit(1);
}

// The files of the table's payloads.
std::vector<fs::path> PayloadFiles(const Settings& settings) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(settings.directory)) {
    if (entry.path().extension() == ".blob") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

void ForgetPages(const Settings& settings) {
  std::error_code gone;
  for (fs::recursive_directory_iterator entry(settings.directory, gone), end; entry != end;
       entry.increment(gone)) {
    const int file = open(entry->path().c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) continue;
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    close(file);
    if (gone) return;
  }
}

struct Place {
  int file = 0;
  std::size_t offset = 0;
};

// Returns the bytes that the disk reads in a second, each thread `size` bytes at once from the next
// place.
double ReadPlaces(const std::vector<Place>& places, std::size_t size, const Settings& settings) {
  std::atomic<std::size_t> next = 0;
  std::atomic<std::size_t> bytes = 0;
  const Steady::time_point start = Steady::now();
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < settings.threads; ++i) {
    threads.emplace_back([&] {
      void* const buffer = std::aligned_alloc(kPage, size);
      for (std::size_t at = next++; at < places.size(); at = next++) {
        if (Since(start) > settings.seconds / 2) break;
        const ssize_t read =
            pread(places[at].file, buffer, size, static_cast<off_t>(places[at].offset));
        if (read < 0) Stop(std::strerror(errno));
        bytes += static_cast<std::size_t>(read);
      }
      std::free(buffer);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return static_cast<double>(bytes) / Since(start);
}

double MeasureDisk(const Settings& settings) {
  const bool random = settings.sampler != "fifo";
  const std::size_t size =
      random ? (settings.read_bytes() + kPage - 1) / kPage * kPage : std::size_t{1} << 20;
  std::vector<int> files;
  std::vector<Place> places;
  for (const fs::path& path : PayloadFiles(settings)) {
    const int file = open(path.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC);
    if (file < 0) Stop(path.string() + ": " + std::strerror(errno));
    files.push_back(file);
    const std::size_t whole = fs::file_size(path) / size;
    for (std::size_t i = 0; i < whole; ++i) places.push_back({.file = file, .offset = i * size});
  }
  runtime::Random draw(1);
  if (random) std::shuffle(places.begin(), places.end(), draw);
  const double rate = ReadPlaces(places, size, settings);
  for (const int file : files) close(file);
  return rate;
}

// The chunks of the `number`-th item, which count up from one environment to the next.
std::vector<std::uint64_t> ChunksOf(std::uint64_t number) {
  const std::uint64_t environment = number % kEnvironments;
  const std::uint64_t first = number / kEnvironments * kNewChunks;
  std::vector<std::uint64_t> chunks;
  for (std::uint64_t i = first; i < first + kItemChunks; ++i) {
    chunks.push_back(i * kEnvironments + environment);
  }
  return chunks;
}

// An item with chunks, which has next to no payload.
replay::Item ItemWith(std::vector<replay::Key> chunks) {
  replay::Item item;
  item.keys = std::make_shared<replay::ItemKeys>(replay::ItemKeys{.chunks = std::move(chunks)});
  item.payload = "unroll";
  return item;
}

class Bench {
 public:
  explicit Bench(const Settings& settings)
      : settings_(settings),
        noise_(2 * settings.bytes + 8, char{}),
        batch_reader_(settings.threads) {
    const bool fifo = settings.sampler == "fifo";
    const auto memory = static_cast<std::size_t>(settings.memory_gigabytes * 1e9);
    replay::TableOptions table{
        .sampler = fifo ? replay::SelectorKind::kFifo : replay::SelectorKind::kUniform,
        .remover = replay::SelectorKind::kFifo,
        .max_size = std::size_t{1} << 40,
        .max_bytes = static_cast<std::size_t>(settings.gigabytes * 1e9),
        .memory_bytes = memory,
        .max_times_sampled = fifo ? 1U : 0U,
        .durability = settings.durability == "always"  ? replay::Durability::kAlways
                      : settings.durability == "batch" ? replay::Durability::kBatch
                                                       : replay::Durability::kNone};
    replay::ContentStoreOptions contents;
    if (settings.chunks) {
      table.max_size = table.max_bytes / settings.new_bytes();
      table.memory_bytes = 0;
      const std::size_t items =
          table.max_size * ItemWith(std::vector<replay::Key>(kItemChunks)).bytes();
      if (items >= memory) Stop("the items alone take " + std::to_string(items) + " bytes");
      contents = {.capacity_bytes = 2 * table.max_bytes, .memory_bytes = memory - items};
    }
    auto journal =
        replay::durability::DiskJournal::Create({.directory = settings.directory + "/shard"});
    if (!journal.ok()) Stop(journal.status().ToString());
    auto shard = replay::Shard::Create({.tables = {table}, .contents = contents},
                                       runtime::SystemClock(), *std::move(journal));
    if (!shard.ok()) Stop(shard.status().ToString());
    shard_ = *std::move(shard);
    const auto reader = shard_->OpenReader();
    if (!reader.ok()) Stop(reader.status().ToString());
    reader_ = *reader;
    runtime::Random random(2);
    for (char& byte : noise_) byte = static_cast<char>(random());
  }

  // Returns the items inserted in a second.
  double Fill() {
    const Steady::time_point start = Steady::now();
    while (shard_->stats().tables[0].evicted_for_room_total == 0) Insert();
    while (shard_->stats().journal.waiting_changes > 0) AwaitChange();
    return static_cast<double>(number_) / Since(start);
  }

  // Samples until nothing is left or the time is over.
  void Drain() {
    const Steady::time_point start = Steady::now();
    while (Since(start) < settings_.seconds || settings_.sampler == "fifo") {
      while (ahead_.size() < kAhead && Ask()) {
      }
      if (ahead_.empty()) break;
      Take();
    }
    seconds_ = Since(start);
    while (!ahead_.empty()) Take();
  }

  std::uint64_t inserted() const { return number_; }
  std::uint64_t samples() const { return samples_; }
  double samples_per_second() const { return static_cast<double>(samples_) / seconds_; }
  replay::ShardStats stats() const { return shard_->stats(); }

 private:
  struct Ahead {
    std::shared_ptr<replay::SampleBatch> batch;
    bool ready = false;
    // Those that its items use, as often as they do.
    std::vector<replay::Key> chunks = {};
  };
  struct HeldChunk {
    std::shared_ptr<const replay::Content> content;
    // By batches on their way.
    std::size_t uses = 0;
  };

  // So many bytes that begin with the number.
  std::string DataOf(std::uint64_t number, std::size_t bytes) const {
    std::string data(NoiseOf(number), bytes);
    std::memcpy(data.data(), &number, sizeof number);
    return data;
  }
  const char* NoiseOf(std::uint64_t number) const {
    return noise_.data() + number * 7919 % settings_.bytes;
  }
  // Stops the bench unless `data` begins as DataOf has made it.
  void Compare(std::string_view data, std::uint64_t number, std::size_t bytes) const {
    if (data.size() < bytes || std::memcmp(data.data(), &number, 8) != 0 ||
        std::memcmp(data.data() + 8, NoiseOf(number) + 8, bytes - 8) != 0) {
      Stop(std::to_string(number) + " has other bytes than it came with");
    }
  }

  void Insert() {
    auto item = std::make_shared<replay::Item>();
    if (settings_.chunks) {
      *item = ItemWith(PutChunks());
    } else {
      item->payload = DataOf(number_, settings_.bytes);
    }
    item->id = {.environment_id = number_, .incarnation = 1, .first_sequence = 0};
    item->steps = 10;
    Retry([&] { return shard_->Insert("unrolls", item); });
    ++number_;
  }

  // Puts the chunks of the next item that the items before it had not, and returns the keys of all.
  std::vector<replay::Key> PutChunks() {
    std::vector<replay::Key>& keys = last_chunks_[number_ % kEnvironments];
    if (!keys.empty()) keys.erase(keys.begin(), keys.begin() + kNewChunks);
    const std::vector<std::uint64_t> chunks = ChunksOf(number_);
    while (keys.size() < kItemChunks) {
      std::string data = DataOf(chunks[keys.size()], settings_.chunk_bytes());
      replay::Content content{.key = content::KeyOf(data),
                              .body = replay::Chunk{.data = std::move(data)}};
      keys.push_back(content.key);
      Retry([&] { return shard_->Put(std::move(content)); });
    }
    return keys;
  }

  // Tries again while there is no room.
  template <typename Insertion>
  void Retry(const Insertion& insertion) {
    while (true) {
      const absl::Status status = insertion();
      if (status.ok()) return;
      if (!absl::IsResourceExhausted(status)) Stop(status.ToString());
      AwaitChange();
    }
  }

  void AwaitChange() { seen_ = shard_->AwaitChange(seen_, std::chrono::milliseconds(10)); }

  // Returns false if there is nothing to be sampled.
  bool Ask() {
    auto batch = std::make_shared<replay::SampleBatch>(
        shard_->Sample("unrolls", reader_, kBatchItems, kBatchBytes));
    if (batch->samples.empty()) return false;
    auto ahead = std::make_shared<Ahead>(Ahead{.batch = batch, .ready = !batch->payloads});
    for (const replay::SampledItem& sample : batch->samples) {
      if (sample.item->keys == nullptr) continue;
      for (const replay::Key& key : sample.item->keys->chunks) {
        ahead->chunks.push_back(key);
        ++held_[key].uses;
      }
    }
    ahead_.push_back(ahead);
    if (ahead->ready) return true;
    batch_reader_.Read(batch, [this, ahead] {
      const std::lock_guard<std::mutex> lock(mutex_);
      ahead->ready = true;
      ready_.notify_all();
    });
    return true;
  }

  void Take() {
    const std::shared_ptr<Ahead> ahead = ahead_.front();
    ahead_.pop_front();
    {
      std::unique_lock<std::mutex> lock(mutex_);
      ready_.wait(lock, [&] { return ahead->ready; });
    }
    shard_->FinishReads(*ahead->batch);
    for (const auto& content : ahead->batch->contents) held_[content->key].content = content;
    for (const replay::SampledItem& sample : ahead->batch->samples) {
      CompareItem(*sample.item);
      ++samples_;
    }
    ForgetChunks(ahead->chunks);
  }

  void CompareItem(const replay::Item& item) {
    if (!settings_.chunks) {
      Compare(item.payload, item.id.environment_id, settings_.bytes);
      return;
    }
    std::size_t left = settings_.needed_bytes();
    const std::vector<std::uint64_t> chunks = ChunksOf(item.id.environment_id);
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      const std::size_t bytes = std::min(left, settings_.chunk_bytes());
      const auto& content = held_[item.keys->chunks[i]].content;
      if (content == nullptr) Stop("chunk " + std::to_string(chunks[i]) + " did not come");
      Compare(std::get<replay::Chunk>(content->body).data, chunks[i], bytes);
      left -= bytes;
    }
  }

  // Ends the uses of these chunks, and has the stream forget those that are not used any more.
  void ForgetChunks(const std::vector<replay::Key>& chunks) {
    std::vector<replay::Key> unused;
    for (const replay::Key& key : chunks) {
      if (--held_[key].uses > 0) continue;
      held_.erase(key);
      unused.push_back(key);
    }
    shard_->Forget(reader_, unused);
  }

  const Settings& settings_;
  std::string noise_;
  // Of the next item.
  std::uint64_t number_ = 0;
  std::uint64_t samples_ = 0;
  double seconds_ = 0;
  int reader_ = 0;
  std::uint64_t seen_ = 0;
  std::unique_ptr<replay::Shard> shard_;
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<std::shared_ptr<Ahead>> ahead_;
  // The keys of the chunks of each environment's last item.
  std::array<std::vector<replay::Key>, kEnvironments> last_chunks_;
  // The chunks that the stream has, or that are on their way.
  absl::flat_hash_map<replay::Key, HeldChunk, replay::KeyHash> held_;
  replay::BatchReader batch_reader_;
};

// What the process has taken of the machine so far.
struct Usage {
  static Usage Now() {
    std::ifstream io("/proc/self/io");
    Usage usage{.processor_seconds = runtime::CpuSeconds()};
    for (std::string line; std::getline(io, line);) {
      if (line.starts_with("write_bytes:")) usage.written_bytes = std::stod(line.substr(12));
    }
    return usage;
  }
  Usage operator-(const Usage& before) const {
    return {.processor_seconds = processor_seconds - before.processor_seconds,
            .written_bytes = written_bytes - before.written_bytes};
  }

  double processor_seconds = 0;
  double written_bytes = 0;
};

// The most memory that the process had, in bytes.
double PeakBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return 1024 * std::stod(line.substr(6));
  }
  return 0;
}

void Measure(const Settings& settings) {
  Bench bench(settings);
  const Usage at_first = Usage::Now();
  const double inserts = bench.Fill();
  const Usage filling = Usage::Now() - at_first;
  const replay::ShardStats filled = bench.stats();
  ForgetPages(settings);
  const double disk_before = MeasureDisk(settings);
  std::atomic<bool> over = false;
  std::thread forgetter([&] {
    while (!over) {
      ForgetPages(settings);
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  });
  const Usage before = Usage::Now();
  bench.Drain();
  const Usage sampling = Usage::Now() - before;
  over = true;
  forgetter.join();
  const double disk_after = settings.sampler == "fifo" ? disk_before : MeasureDisk(settings);
  const double disk = (disk_before + disk_after) / 2;
  const auto needed_bytes = static_cast<double>(settings.needed_bytes());
  const double rate = bench.samples_per_second() * needed_bytes;
  const double inserted_bytes =
      static_cast<double>(bench.inserted()) * static_cast<double>(settings.new_bytes());
  const double sampled_bytes = static_cast<double>(bench.samples()) * needed_bytes;
  const replay::TableStats& table = filled.tables[0];
  const std::size_t bytes = table.bytes + filled.content_bytes;
  std::puts(
      json{{"bench", "replay_capacity"},
           {"sampler", settings.sampler},
           {"durability", settings.durability},
           {"chunks", settings.chunks},
           {"bytes", settings.needed_bytes()},
           {"read_bytes", settings.read_bytes()},
           {"gigabytes", static_cast<double>(bytes) / 1e9},
           {"memory_gigabytes",
            static_cast<double>(bytes - table.disk_bytes - filled.content_disk_bytes) / 1e9},
           {"inserts_per_second", inserts},
           {"samples_per_second", bench.samples_per_second()},
           {"reads", bench.stats().tables[0].reads_total},
           {"megabytes_per_second", rate / 1e6},
           {"disk_megabytes_per_second", disk / 1e6},
           {"of_disk", rate / disk},
           {"processor_seconds_per_gigabyte", sampling.processor_seconds / sampled_bytes * 1e9},
           {"written_per_sampled_byte", sampling.written_bytes / sampled_bytes},
           {"written_per_inserted_byte", filling.written_bytes / inserted_bytes},
           {"resident_of_memory", PeakBytes() / (settings.memory_gigabytes * 1e9)}}
          .dump()
          .c_str());
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  bench::Flags flags("Measures a table of replay that is larger than its memory.");
  flags.Add("--directory", settings.directory).Required();
  flags.Add("--sampler", settings.sampler).OneOf({"uniform", "fifo"});
  flags.Add("--durability", settings.durability).OneOf({"none", "batch", "always"});
  flags.Add("--bytes", settings.bytes).InRange(64, 1 << 24);
  flags.Add("--gigabytes", settings.gigabytes).Positive();
  flags.Add("--memory-gigabytes", settings.memory_gigabytes).Positive();
  flags.Add("--seconds", settings.seconds).Positive();
  flags.Add("--threads", settings.threads).InRange(1, 64);
  flags.Add("--chunks", settings.chunks, "items share chunks of rows");
  if (const auto code = flags.Parse(argc, argv)) return *code;
  if (settings.chunks && settings.sampler == "fifo") Stop("--chunks needs a uniform sampler");
  if (settings.chunks && settings.row_bytes() < 8) Stop("--chunks needs rows of 8 bytes");
  spdlog::set_level(spdlog::level::warn);
  runtime::UseOneHeap();
  runtime::KeepFreedMemory();
  Measure(settings);
}
