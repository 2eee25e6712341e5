// SPDX-License-Identifier: Apache-2.0
// Measures what replay shards take and give: items inserted and sampled per second, over gRPC on
// loopback, with the shards in processes of their own, or within this process.
//
//   bench_replay [--bytes 4096] [--writers 1] [--samplers 1] [--shards 1] [--selector uniform]
//                [--phases insert sample both] [--seconds 2] [--rounds 5] [--unix] [--items 0]
//                [--shared-memory] [--in-process] [--compression LEVEL] [--similar-rows]
//                [--durability none|batch|always] [--directory FOLDER]
//
// Payloads are random bytes, which nothing can compress. A writer serialises each item anew, as
// inference does. A sampler adds up the words of each payload that it gets. The table is full from
// the first round on and makes room first-in-first-out; items may be sampled any number of times.
//
// With --compression an item's bytes are 16 rows in a chunk, which writers pack with zstd at this
// level, or not at all with 0, and samplers unpack; with --similar-rows each row has 63 of 64 bytes
// from the one before, as frames have most. With --durability the table is on disk, too, below
// --directory.
//
// Each phase prints one JSON line. Rates are medians of the rounds. `ceiling_share` compares the
// bytes of payloads, inserted and sampled ones together, with those that one process writes to
// another over a socket of the same kind in the same round: TCP or, with --unix, in the file
// system. With --unix payloads still go through sockets; with --shared-memory each round is
// measured twice, through shared memory and through sockets in the file system, and each phase
// prints a line for both. With --in-process each round is also measured with shards within this
// process, which clients reach without sockets. `processor_seconds_per_gigabyte` is the time that
// clients and shards took for a gigabyte of payloads, which depends less than rates do on what else
// the machine does. `resident_per_payload` is the memory of all shards that are processes, with all
// that a process has besides its table, by the bytes of the payloads in their tables; measure it
// with many items.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/clock.h"
#include "platform/runtime/heap.h"
#include "platform/runtime/log.h"
#include "platform/runtime/mutex.h"
#include "platform/runtime/process_usage.h"
#include "platform/runtime/random.h"
#include "platform/runtime/thread.h"
#include "platform/transport/connector.h"
#include "platform/transport/server.h"
#include "replay/client/chunk_codec.h"
#include "replay/client/chunk_writer.h"
#include "replay/client/inserter.h"
#include "replay/client/sampler.h"
#include "replay/durability/disk_journal.h"
#include "replay/selectors/selector_kind.h"
#include "replay/service.h"
#include "tests/bench/child.h"
#include "tests/bench/flags.h"
#include "tests/bench/load.h"
#include "tests/bench/one_way_stream.h"

namespace {

using namespace shoal;
using nlohmann::json;

struct Settings {
  std::size_t bytes = 4096;
  std::size_t writers = 1;
  std::size_t samplers = 1;
  std::size_t shards = 1;
  std::string selector = "uniform";
  std::vector<std::string> phases = {"insert", "sample", "both"};
  double seconds = 2;
  int rounds = 5;
  bool uses_unix = false;
  bool shares_memory = false;
  bool in_process = false;
  // Of zstd. -1: items have no chunks.
  int compression = -1;
  bool similar_rows = false;
  std::string durability = "none";
  std::string directory = "/tmp";
  // 0 means about a quarter of a gibibyte.
  std::size_t items = 0;

  // The items that all shards hold.
  std::size_t capacity() const {
    if (items > 0) return items;
    return std::clamp((std::size_t{256} << 20) / bytes, shards * 16, std::size_t{100000});
  }
};

constexpr std::chrono::seconds kPatience(20);
// The rows of an item that has chunks.
constexpr std::size_t kRows = 16;
// So that each row has room for its stamp.
constexpr std::size_t kLeastChunkedBytes = kRows * sizeof(std::uint64_t);
// A client has so many bytes on their way, so that a round counts few items that came before it,
// and what is on its way stays in the processor's caches.
constexpr std::size_t kAheadBytes = std::size_t{16} << 20;
constexpr std::size_t kLeastAhead = 4;
constexpr std::size_t kMostAhead = 256;

std::unique_ptr<replay::Journal> JournalOf(const Settings& settings, const std::string& folder) {
  if (settings.durability == "none") return nullptr;
  return *replay::durability::DiskJournal::Create({.directory = folder});
}

// A shard and its server.
class ServedShard {
 public:
  ServedShard(const Settings& settings, std::size_t index, const std::string& listen,
              const std::string& folder)
      : shard_(*replay::Shard::Create(
            {.tables =
                 {{.name = "unrolls",
                   .sampler = *replay::SelectorKindFrom(settings.selector),
                   .remover = replay::SelectorKind::kFifo,
                   .max_size = std::max<std::size_t>(1, settings.capacity() / settings.shards),
                   .max_bytes = std::size_t{16} << 30,
                   .max_times_sampled = 0,
                   .seed = index,
                   .durability = settings.durability == "always"  ? replay::Durability::kAlways
                                 : settings.durability == "batch" ? replay::Durability::kBatch
                                                                  : replay::Durability::kNone}}},
            runtime::SystemClock(), JournalOf(settings, folder))),
        knobs_({}, {}, *shard_),
        service_({.max_item_bytes = std::size_t{48} << 20, .credit = 64}, *shard_, knobs_,
                 metrics_),
        server_(*transport::Server::Create({.listen = listen}, {&service_})) {
    server_->SetServing(true);
  }
  ~ServedShard() {
    service_.Drain(std::chrono::milliseconds(0));
    server_->Shutdown(std::chrono::milliseconds(0));
  }
  const transport::Server& server() const { return *server_; }

 private:
  runtime::Metrics metrics_;
  std::unique_ptr<replay::Shard> shard_;
  replay::TableSettings knobs_;
  replay::Service service_;
  std::unique_ptr<transport::Server> server_;
};

void ServeShard(const Settings& settings, std::size_t index, const std::string& listen,
                const std::string& folder, const bench::Tell& tell, int life) {
  runtime::UseOneHeap();
  const ServedShard shard(settings, index, listen, folder);
  tell(shard.server().address());
  char end = 0;
  while (::read(life, &end, 1) > 0) {
  }
}

// How clients reach the shards.
struct Way {
  std::vector<std::string> addresses;
  transport::Connector connect = transport::OverSockets();
  bool shares_memory = false;
  bool in_process = false;
};

class NoContents final : public replay::client::ContentProvider,
                         public replay::client::ContentSink {
 public:
  absl::StatusOr<proto::Embeddings> FindEmbeddings(std::span<const std::string>) override {
    return proto::Embeddings();
  }
  absl::StatusOr<std::variant<proto::Catalog, proto::Overlay>> FindCatalog(
      const std::string&) override {
    return runtime::NotFound("no catalog");
  }
  void AddEmbeddings(const proto::Embeddings&) override {}
  void AddCatalog(const proto::Catalog&) override {}
  void AddOverlay(const proto::Overlay&) override {}
};

class Writer {
 public:
  Writer(const Settings& settings, const Way& way, std::uint64_t number)
      : settings_(settings),
        random_(number),
        number_(number),
        encoder_(std::max(0, settings.compression)),
        chunks_({.chunk_rows = kRows, .item_rows = kRows}, encoder_) {
    inserter_ = *replay::client::Inserter::Create(
        {.addresses = way.addresses,
         .client = "writer",
         .outbox_items = std::clamp(kAheadBytes / settings.bytes, kLeastAhead, kMostAhead),
         .outbox_bytes = std::size_t{64} << 20,
         .max_item_bytes = std::size_t{48} << 20,
         .connect = way.connect,
         .shares_memory = way.shares_memory},
        contents_, metrics_);
    inserter_->OnSpace([this] {
      const runtime::MutexLock lock(mutex_);
      ++space_;
      changed_.NotifyAll();
    });
    bytes_.resize(settings.bytes);
    for (char& byte : bytes_) byte = static_cast<char>(random_());
    unroll_.set_length(1);
    if (chunked()) return;
    proto::NamedTensor& column = *unroll_.add_step_columns();
    column.set_name(kColumn);
    column.mutable_tensor()->set_data(bytes_);
  }

  // Inserts for `seconds`, or until `items` were.
  void Insert(double seconds, std::uint64_t items) {
    const auto start = runtime::SystemClock().Now();
    for (std::uint64_t i = 0; i < items; ++i) {
      if (i % 16 == 0 &&
          std::chrono::duration<double>(runtime::SystemClock().Now() - start).count() > seconds) {
        return;
      }
      if (chunked()) {
        Add(MakeChunkedItem());
      } else {
        Add(MakeItem(), unroll_);
      }
    }
  }
  std::uint64_t acknowledged() const { return inserter_->stats().acknowledged_total; }
  // Of an item: the unroll around --bytes of numbers, or these alone if they are in a chunk.
  std::size_t payload_bytes() const { return chunked() ? settings_.bytes : unroll_.ByteSizeLong(); }

 private:
  static constexpr char kColumn[] = "observation/bytes";

  bool chunked() const { return settings_.compression >= 0; }
  // Has other bytes in place, so that no two chunks are the same.
  void ChangeRows() {
    const std::size_t width = settings_.bytes / kRows;
    for (std::size_t row = 0; row < kRows; ++row) {
      char* const begin = bytes_.data() + row * width;
      if (settings_.similar_rows) {
        if (row > 0) std::memcpy(begin, begin - width, width);
        for (std::size_t i = 0; i < width / 64; ++i) {
          begin[random_.Below(width)] = static_cast<char>(random_());
        }
      }
      const std::uint64_t stamp = made_ * kRows + row;
      std::memcpy(begin, &stamp, sizeof stamp);
    }
  }
  replay::client::ChunkedItem MakeChunkedItem() {
    proto::Item item = MakeItem();
    ChangeRows();
    const std::int64_t shape[] = {kRows, static_cast<std::int64_t>(settings_.bytes / kRows)};
    const replay::client::ColumnRows column = {
        .name = kColumn,
        .values = {runtime::DType::kUInt8, shape,
                   std::as_bytes(std::span(bytes_)).first(settings_.bytes / kRows * kRows)}};
    const std::uint64_t first = chunks_.rows();
    if (!chunks_.Append({&column, 1}).ok()) std::abort();
    const replay::client::ColumnRange range = {.column = 0, .first = first, .last = first + kRows};
    if (!chunks_.AddItem(std::move(item), unroll_, {&range, 1}).ok()) std::abort();
    chunks_.Flush();
    return std::move(chunks_.TakeReady().front());
  }
  // Returns an item without its payload, which is `unroll_`.
  proto::Item MakeItem() {
    unroll_.mutable_id()->set_environment_id(++made_);
    unroll_.mutable_id()->set_incarnation(number_ + 1);
    proto::Item item;
    *item.mutable_id() = unroll_.id();
    item.set_table("unrolls");
    item.mutable_oldest_version()->set_epoch(1);
    item.mutable_newest_version()->set_epoch(1);
    item.set_steps(1);
    item.set_priority(static_cast<float>(random_.Uniform()));
    return item;
  }
  template <typename Item, typename... Payload>
  void Add(Item item, const Payload&... payload) {
    for (;;) {
      int seen = 0;
      {
        const runtime::MutexLock lock(mutex_);
        seen = space_;
      }
      if (inserter_->TryInsert(std::move(item), payload...).ok()) return;
      const runtime::MutexLock lock(mutex_);
      while (space_ == seen) {
        if (!changed_.WaitUntil(mutex_, std::chrono::steady_clock::now() + kPatience)) std::abort();
      }
    }
  }

  const Settings& settings_;
  runtime::Random random_;
  const std::uint64_t number_;
  // An item's bytes.
  std::string bytes_;
  replay::client::ChunkEncoder encoder_;
  replay::client::ChunkWriter chunks_;
  std::uint64_t made_ = 0;
  proto::Unroll unroll_;
  NoContents contents_;
  runtime::Metrics metrics_;
  runtime::Mutex mutex_;
  runtime::CondVar changed_;
  int space_ ABSL_GUARDED_BY(mutex_) = 0;
  std::unique_ptr<replay::client::Inserter> inserter_;
};

// Adds up as numpy does for the peer: several words at a time.
std::uint64_t SumOfWords(std::string_view bytes) {
  std::array<std::uint64_t, 8> words = {};
  std::array<std::uint64_t, 8> sums = {};
  while (!bytes.empty()) {
    const std::size_t length = std::min(bytes.size(), sizeof words);
    if (length < sizeof words) words = {};
    std::memcpy(words.data(), bytes.data(), length);
    bytes.remove_prefix(length);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += words[i];
  }
  return std::accumulate(sums.begin(), sums.end(), std::uint64_t{0});
}

class Reader {
 public:
  Reader(const Settings& settings, const Way& way, std::uint64_t number) {
    sampler_ = *replay::client::Sampler::Create(
        {.addresses = way.addresses,
         .client = "sampler-" + std::to_string(number),
         .table = "unrolls",
         .prefetch = std::clamp(kAheadBytes / settings.bytes, kLeastAhead, kMostAhead),
         .connect = way.connect,
         .shares_memory = way.shares_memory},
        contents_, metrics_);
  }
  void Sample(double seconds) {
    const auto start = runtime::SystemClock().Now();
    for (std::uint64_t i = 0;; ++i) {
      if (i % 16 == 0 &&
          std::chrono::duration<double>(runtime::SystemClock().Now() - start).count() > seconds) {
        return;
      }
      const auto unroll = sampler_->Next(kPatience);
      if (!unroll.ok()) std::abort();
      checksum_ += SumOfWords(unroll->unroll.step_columns(0).tensor().data());
      ++sampled_;
    }
  }
  std::uint64_t sampled() const { return sampled_; }
  std::uint64_t checksum() const { return checksum_; }

 private:
  NoContents contents_;
  runtime::Metrics metrics_;
  std::unique_ptr<replay::client::Sampler> sampler_;
  std::uint64_t sampled_ = 0;
  std::uint64_t checksum_ = 0;
};

// Clients that use the shards in one way.
struct Clients {
  Clients(const Settings& settings, Way used, std::uint64_t first_writer) : way(std::move(used)) {
    for (std::size_t i = 0; i < settings.writers; ++i) {
      writers.push_back(std::make_unique<Writer>(settings, way, first_writer + i));
    }
  }
  void AddReaders(const Settings& settings) {
    for (std::size_t i = 0; i < settings.samplers; ++i) {
      readers.push_back(std::make_unique<Reader>(settings, way, i));
    }
    for (auto& reader : readers) reader->Sample(0.2);
  }
  double acknowledged() const {
    std::uint64_t sum = 0;
    for (const auto& writer : writers) sum += writer->acknowledged();
    return static_cast<double>(sum);
  }
  double sampled() const {
    std::uint64_t sum = 0;
    for (const auto& reader : readers) sum += reader->sampled();
    return static_cast<double>(sum);
  }

  const Way way;
  std::vector<std::unique_ptr<Writer>> writers;
  std::vector<std::unique_ptr<Reader>> readers;
};

// What the rounds of a phase have measured.
struct Measured {
  std::vector<double> inserted;
  std::vector<double> sampled;
  std::vector<double> shares;
  std::vector<double> costs;
};

void MeasureRound(const Settings& settings, const std::string& phase, Clients& clients,
                  const std::vector<std::unique_ptr<bench::Child>>& shards,
                  bench::OneWayStream& ceiling, Measured& measured) {
  const auto processor_seconds = [&shards] {
    double sum = bench::ProcessorSecondsOf(::getpid());
    for (const auto& shard : shards) sum += bench::ProcessorSecondsOf(shard->pid());
    return sum;
  };
  const double seconds = settings.seconds;
  const double inserted_before = clients.acknowledged();
  const double sampled_before = clients.sampled();
  const double processor_before = processor_seconds();
  const auto start = runtime::SystemClock().Now();
  std::vector<runtime::Thread> threads;
  if (phase != "sample") {
    for (auto& writer : clients.writers) {
      threads.emplace_back("bench", [&writer, seconds] { writer->Insert(seconds, ~0ULL); });
    }
  }
  if (phase != "insert") {
    for (auto& reader : clients.readers) {
      threads.emplace_back("bench", [&reader, seconds] { reader->Sample(seconds); });
    }
  }
  for (runtime::Thread& thread : threads) thread.Join();
  const double elapsed =
      std::chrono::duration<double>(runtime::SystemClock().Now() - start).count();
  const double inserted = clients.acknowledged() - inserted_before;
  const double sampled = clients.sampled() - sampled_before;
  const double bytes = (inserted + sampled) * static_cast<double>(settings.bytes);
  measured.inserted.push_back(inserted / elapsed);
  measured.sampled.push_back(sampled / elapsed);
  measured.costs.push_back((processor_seconds() - processor_before) / bytes * 1e9);
  measured.shares.push_back(bytes / elapsed / ceiling.Measure(seconds / 4));
}

void Print(const Settings& settings, const std::string& phase, const Clients& clients,
           const Measured& measured, const std::vector<std::unique_ptr<bench::Child>>& shards) {
  json line = {{"bench", "replay_" + phase},
               {"bytes", settings.bytes},
               {"writers", settings.writers},
               {"samplers", settings.samplers},
               {"shards", settings.shards},
               {"selector", settings.selector},
               {"items", settings.capacity()},
               {"unix", settings.uses_unix},
               {"rounds", settings.rounds},
               {"shared_memory", clients.way.shares_memory},
               {"in_process", clients.way.in_process},
               {"durability", settings.durability},
               {"compression", settings.compression},
               {"similar_rows", settings.similar_rows}};
  const auto add = [&line](const std::string& name, const std::vector<double>& values) {
    const bench::Spread spread = bench::SpreadOf(values);
    line[name] = spread.median;
    line[name + "_range"] = {spread.minimum, spread.maximum};
  };
  if (phase != "sample") add("inserted_per_second", measured.inserted);
  if (phase != "insert") add("sampled_per_second", measured.sampled);
  add("ceiling_share", measured.shares);
  add("processor_seconds_per_gigabyte", measured.costs);
  if (!clients.way.in_process) {
    double resident = 0;
    for (const auto& shard : shards) resident += runtime::ResidentBytes(shard->pid());
    line["resident_per_payload"] =
        resident / static_cast<double>(settings.capacity() * clients.writers[0]->payload_bytes());
  }
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
}

void Run(const Settings& settings, const std::string& folder,
         const std::vector<std::unique_ptr<bench::Child>>& shards, const bench::Child& sink) {
  std::vector<std::unique_ptr<ServedShard>> own;
  std::vector<std::unique_ptr<Clients>> ways;
  const auto add = [&](const Way& way) {
    ways.push_back(std::make_unique<Clients>(settings, way, ways.size() * settings.writers));
  };
  if (settings.in_process) {
    Way way;
    way.in_process = true;
    for (std::size_t i = 0; i < settings.shards; ++i) {
      own.push_back(std::make_unique<ServedShard>(settings, i, "127.0.0.1:0",
                                                  folder + "/own-" + std::to_string(i)));
      way.addresses.push_back(own.back()->server().address());
    }
    way.connect = [&own, addresses = way.addresses](const std::string& address) {
      const auto at = std::find(addresses.begin(), addresses.end(), address) - addresses.begin();
      return own[static_cast<std::size_t>(at)]->server().InProcessChannel();
    };
    add(way);
  }
  Way sockets;
  for (const auto& shard : shards) sockets.addresses.push_back(shard->address());
  Way rings = sockets;
  rings.shares_memory = true;
  if (settings.shares_memory) add(rings);
  add(sockets);
  // Fills the table, and nothing waits for connections any more.
  for (auto& way : ways) {
    way->writers[0]->Insert(1e9, settings.capacity() + settings.capacity() / 8);
  }
  for (auto& way : ways) way->AddReaders(settings);
  bench::OneWayStream ceiling(sink.address(), settings.bytes);
  for (const std::string& phase : settings.phases) {
    std::vector<Measured> measured(ways.size());
    for (int round = 0; round < settings.rounds; ++round) {
      for (std::size_t i = 0; i < ways.size(); ++i) {
        MeasureRound(settings, phase, *ways[i], shards, ceiling, measured[i]);
      }
    }
    for (std::size_t i = 0; i < ways.size(); ++i) {
      Print(settings, phase, *ways[i], measured[i], shards);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  bench::Flags flags("What replay shards take and give over loopback");
  flags.Add("--bytes", settings.bytes, "of an item's payload").InRange(8, 40 << 20);
  flags.Add("--writers", settings.writers).InRange(1, 64);
  flags.Add("--samplers", settings.samplers).InRange(1, 64);
  flags.Add("--shards", settings.shards).InRange(1, 64);
  const auto names = replay::SelectorNames();
  flags.Add("--selector", settings.selector, "chooses the items that are sampled")
      .OneOf(std::vector<std::string>(names.begin(), names.end()));
  flags.Add("--phases", settings.phases).OneOf({"insert", "sample", "both"});
  flags.Add("--seconds", settings.seconds, "of a round").Positive();
  flags.Add("--unix", settings.uses_unix, "sockets in the file system instead of TCP");
  flags.Add("--shared-memory", settings.shares_memory,
            "also through shared memory; implies --unix");
  flags.Add("--in-process", settings.in_process, "also with shards within this process");
  flags.Add("--items", settings.items, "that all shards hold").InRange(16, 1 << 26);
  flags.Add("--rounds", settings.rounds).Positive();
  flags
      .Add("--compression", settings.compression,
           "of zstd, for items with chunks; 0: chunks that are not compressed")
      .InRange(0, replay::client::ChunkEncoder::kMaxLevel);
  flags.Add("--similar-rows", settings.similar_rows, "rows that resemble the ones before");
  flags.Add("--durability", settings.durability).OneOf({"none", "batch", "always"});
  flags.Add("--directory", settings.directory, "of tables on disk");
  if (const auto code = flags.Parse(argc, argv)) return *code;
  settings.uses_unix = settings.uses_unix || settings.shares_memory;
  if (settings.compression >= 0 && settings.bytes < kLeastChunkedBytes) {
    std::fprintf(stderr, "--compression: --bytes has to be at least %zu\n", kLeastChunkedBytes);
    return 2;
  }
  spdlog::set_level(spdlog::level::warn);
  // As inference and shards do.
  runtime::KeepFreedMemory();
  ::signal(SIGPIPE, SIG_IGN);
  const std::string folder = settings.directory + "/bench_replay." + std::to_string(::getpid());
  if (::mkdir(folder.c_str(), 0700) != 0) std::abort();
  {
    std::vector<std::unique_ptr<bench::Child>> shards;
    for (std::size_t i = 0; i < settings.shards; ++i) {
      const std::string listen =
          settings.uses_unix ? "unix:" + folder + "/" + std::to_string(i) : "127.0.0.1:0";
      shards.push_back(std::make_unique<bench::Child>(
          [&settings, &folder, i, &listen](const bench::Tell& tell, int life) {
            ServeShard(settings, i, listen, folder + "/shard-" + std::to_string(i), tell, life);
          }));
    }
    const bench::Child sink([&](const bench::Tell& tell, int) {
      bench::ServeSink(settings.uses_unix ? folder + "/sink" : "0", tell);
    });
    Run(settings, folder, shards, sink);
    // A child also holds open what keeps the children alive that were made before it.
    while (!shards.empty()) shards.pop_back();
  }
  std::filesystem::remove_all(folder);
  return 0;
}
