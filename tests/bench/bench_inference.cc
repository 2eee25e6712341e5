// SPDX-License-Identifier: Apache-2.0
// Measures how many rows of 84 x 84 x 4 bytes a second an inference server answers over the wire,
// beside what a plain sink takes of the same bytes over a socket of the same kind.
//
//   bench_inference [--networks none impala] [--device cpu] [--precision float32]
//                   [--connections 2] [--rows 256] [--message 64] [--batch 256] [--threads 1]
//                   [--seconds 2] [--rounds 5] [--unix]
//
// Each server is a process of its own, as the program `inference` is. The clients are those of
// actors and share this process. Each has --rows environments, whose rows first go out in messages
// of --message; what comes back in one reply goes out again in one message. Each row is a copy of a
// frame, as environments of pixels give one. Unrolls of 16 rows are built and dropped, since there
// is no replay.
//
// --networks are values of policy.convolution. With "none" the torso makes a single number of all
// bytes, which is the least that a policy can do with them: what is left is the cost of the path,
// and of the floats that a policy without a convolution reads.
//
// Rounds measure the networks in turn, and after each of them the sink. Prints one JSON line for
// each network. Rates are medians of the rounds. `ceiling_share` compares the bytes of observations
// with those of the sink in the same round. `processor_seconds_per_gigabyte` is what clients and
// server took for a gigabyte of observations, and `server_seconds_per_gigabyte` the server's part.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "inference/client/act_client.h"
#include "inference/service/inference_server.h"
#include "platform/runtime/clock.h"
#include "platform/runtime/heap.h"
#include "platform/runtime/log.h"
#include "platform/runtime/mutex.h"
#include "platform/runtime/random.h"
#include "rl/model/policy.h"
#include "tests/bench/child.h"
#include "tests/bench/flags.h"
#include "tests/bench/load.h"
#include "tests/bench/one_way_stream.h"
#include "tests/bench/pixel_policy.h"
#include "tests/inference/service/loopback.h"

namespace {

using namespace shoal;
using inference::client::ActClient;
using inference::client::Answer;
using inference::client::Row;

constexpr std::int64_t kActions = 16;
constexpr std::size_t kRowBytes = std::size_t{84} * 84 * 4;
// The frames that a client's environments show by turns.
constexpr std::size_t kFrames = 8;
constexpr std::chrono::seconds kPatience(120);

struct Settings {
  std::vector<std::string> networks = {"none", "impala"};
  std::string device = "cpu";
  std::string precision = "float32";
  std::size_t connections = 2;
  std::size_t rows = 256;
  std::size_t message_rows = 64;
  std::int64_t batch_rows = 256;
  int threads = 1;
  double seconds = 2;
  int rounds = 5;
  bool uses_unix = false;
};

double SecondsSince(runtime::TimePoint start) {
  return std::chrono::duration<double>(runtime::SystemClock().Now() - start).count();
}

// Ends the process, since no figure is worth anything then.
[[noreturn]] void Give(const std::string& why) {
  std::fprintf(stderr, "bench_inference: %s\n", why.c_str());
  std::exit(1);
}

inference::InferenceConfig ConfigOf(const Settings& settings, const std::string& network,
                                    const std::string& listen, const std::string& folder) {
  inference::InferenceConfig config;
  config.policy = bench::PixelPolicy(network, kActions);
  config.options.listen = listen;
  config.options.parameters_folder = folder;
  config.options.device = settings.device;
  // The other networks have no convolution that computes in bfloat16.
  if (network == "impala") config.options.precision = settings.precision;
  config.options.max_rows = settings.batch_rows;
  return config;
}

void ServeInference(const Settings& settings, const inference::InferenceConfig& config,
                    const bench::Tell& tell, int life) {
  model::SetTorchThreads(settings.threads);
  absl::Status status =
      inference::testing::SaveInitialParameters(config.policy, config.options.parameters_folder);
  runtime::Metrics metrics;
  std::unique_ptr<inference::InferenceServer> server;
  if (status.ok()) {
    auto created = inference::InferenceServer::Create(config, metrics);
    status = created.status();
    if (created.ok()) server = *std::move(created);
  }
  if (!status.ok()) {
    std::fprintf(stderr, "bench_inference: %s\n", runtime::Message(status).c_str());
    return;
  }
  tell(server->address());
  char end = 0;
  while (::read(life, &end, 1) > 0) {
  }
}

proto::EnvironmentSpec PixelEnvironment() {
  proto::EnvironmentSpec spec;
  proto::ObservationSpec& observation = *spec.add_observations();
  observation.set_name("frame");
  observation.set_dtype(proto::UINT8);
  for (const std::int64_t size : {84, 84, 4}) observation.add_shape(size);
  spec.mutable_action()->mutable_discrete()->set_count(kActions);
  return spec;
}

// A client and its environments. While it runs, each environment answers an action with its next
// row.
class Connection final : public inference::client::ActHandler {
 public:
  Connection(const Settings& settings, const std::string& address, std::uint64_t number)
      : first_environment_(number << 32), frames_(kFrames), sequences_(settings.rows) {
    runtime::Random random(1, number);
    for (std::string& frame : frames_) {
      frame.resize(kRowBytes);
      for (char& byte : frame) byte = static_cast<char>(random());
    }
    client_ = std::make_unique<ActClient>(
        inference::client::ActClientOptions{.address = address, .spec = PixelEnvironment()}, *this);
    const runtime::MutexLock lock(mutex_);
    while (connection_ == 0) {
      if (!changed_.WaitUntil(mutex_, runtime::SystemClock().Now() + kPatience)) {
        Give("no server answers at " + address);
      }
    }
  }

  // REQUIRES: no row waits for an answer.
  void Begin(std::size_t message_rows) {
    {
      const runtime::MutexLock lock(mutex_);
      running_ = true;
      waiting_ = sequences_.size();
    }
    for (std::size_t first = 0; first < sequences_.size(); first += message_rows) {
      std::vector<Row> rows;
      for (std::size_t i = first; i < std::min(first + message_rows, sequences_.size()); ++i) {
        rows.push_back(Next(i));
      }
      Send(std::move(rows));
    }
  }
  void Stop() {
    const runtime::MutexLock lock(mutex_);
    running_ = false;
  }
  // Waits until all rows are answered, and returns how many were since Begin.
  std::uint64_t AwaitAnswers() {
    const runtime::MutexLock lock(mutex_);
    while (waiting_ > 0) {
      if (!changed_.WaitUntil(mutex_, runtime::SystemClock().Now() + kPatience)) {
        Give("a row is not answered");
      }
    }
    return std::exchange(answered_, 0);
  }

  void OnConnected(std::uint64_t /*server_epoch*/, std::uint64_t connection) override {
    const runtime::MutexLock lock(mutex_);
    connection_ = connection;
    changed_.NotifyAll();
  }
  void OnAnswers(std::vector<Answer> answers) override {
    bool goes_on = false;
    {
      const runtime::MutexLock lock(mutex_);
      answered_ += answers.size();
      goes_on = running_;
      if (!goes_on) waiting_ -= answers.size();
      if (waiting_ == 0) changed_.NotifyAll();
    }
    std::vector<Row> rows;
    for (const Answer& answer : answers) {
      if (answer.outcome != Answer::Outcome::kAction) Give("a row is refused: " + answer.error);
      if (goes_on) rows.push_back(Next(answer.environment_id - first_environment_));
    }
    Send(std::move(rows));
  }
  void OnDisconnected(const absl::Status& status) override { Give(runtime::Message(status)); }

 private:
  Row Next(std::size_t environment) {
    Row row{.environment_id = first_environment_ + environment, .incarnation = 1};
    row.sequence = sequences_[environment]++;
    row.flags = row.sequence == 0 ? proto::ROW_FLAG_FIRST : proto::ROW_FLAG_NONE;
    row.observation = frames_[(environment + row.sequence) % kFrames];
    return row;
  }
  void Send(std::vector<Row> rows) {
    std::uint64_t connection = 0;
    {
      const runtime::MutexLock lock(mutex_);
      connection = connection_;
    }
    const absl::Status sent = client_->Send(rows, connection);
    if (!sent.ok()) Give(runtime::Message(sent));
  }

  const std::uint64_t first_environment_;
  std::vector<std::string> frames_;
  // The next one of each environment, used by whoever sends its next row.
  std::vector<std::uint64_t> sequences_;
  runtime::Mutex mutex_;
  runtime::CondVar changed_;
  std::uint64_t connection_ ABSL_GUARDED_BY(mutex_) = 0;
  bool running_ ABSL_GUARDED_BY(mutex_) = false;
  std::size_t waiting_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t answered_ ABSL_GUARDED_BY(mutex_) = 0;
  std::unique_ptr<ActClient> client_;
};

// A network, what serves it and who asks it, and what the rounds have measured.
struct Measured {
  std::string network;
  std::unique_ptr<bench::Child> server;
  std::vector<std::unique_ptr<Connection>> connections;
  std::vector<double> rows;
  std::vector<double> bytes;
  std::vector<double> sunk;
  std::vector<double> shares;
  std::vector<double> costs;
  std::vector<double> server_costs;

  double Run(const Settings& settings, double seconds) {
    for (const auto& connection : connections) connection->Begin(settings.message_rows);
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    for (const auto& connection : connections) connection->Stop();
    std::uint64_t answered = 0;
    for (const auto& connection : connections) answered += connection->AwaitAnswers();
    return static_cast<double>(answered);
  }

  void MeasureRound(const Settings& settings, bench::OneWayStream& sink) {
    const double own_before = bench::ProcessorSecondsOf(::getpid());
    const double server_before = bench::ProcessorSecondsOf(server->pid());
    const auto start = runtime::SystemClock().Now();
    const double answered = Run(settings, settings.seconds);
    const double elapsed = SecondsSince(start);
    const double took = bench::ProcessorSecondsOf(server->pid()) - server_before;
    const double own = bench::ProcessorSecondsOf(::getpid()) - own_before;
    const double gigabytes = answered * static_cast<double>(kRowBytes) * 1e-9;
    rows.push_back(answered / elapsed);
    bytes.push_back(gigabytes * 1e9 / elapsed);
    costs.push_back((took + own) / gigabytes);
    server_costs.push_back(took / gigabytes);
    sunk.push_back(sink.Measure(settings.seconds / 4));
    shares.push_back(bytes.back() / sunk.back());
  }

  void Print(const Settings& settings) const {
    nlohmann::json line = {{"bench", "inference"},
                           {"device", settings.device},
                           {"network", network},
                           {"precision", settings.precision},
                           {"connections", settings.connections},
                           {"rows", settings.rows},
                           {"message_rows", settings.message_rows},
                           {"batch_rows", settings.batch_rows},
                           {"threads", settings.threads},
                           {"unix", settings.uses_unix},
                           {"rounds", settings.rounds}};
    const auto add = [&line](const std::string& name, const std::vector<double>& values) {
      const bench::Spread spread = bench::SpreadOf(values);
      line[name] = spread.median;
      line[name + "_range"] = {spread.minimum, spread.maximum};
    };
    add("rows_per_second", rows);
    add("bytes_per_second", bytes);
    add("sink_bytes_per_second", sunk);
    add("ceiling_share", shares);
    add("processor_seconds_per_gigabyte", costs);
    add("server_seconds_per_gigabyte", server_costs);
    std::printf("%s\n", line.dump().c_str());
    std::fflush(stdout);
  }
};

void Run(const Settings& settings, const std::string& folder) {
  std::vector<Measured> all;
  for (const std::string& network : settings.networks) {
    const std::string own = folder + "/" + std::to_string(all.size());
    std::filesystem::create_directory(own);
    const inference::InferenceConfig config = ConfigOf(
        settings, network, settings.uses_unix ? "unix:" + own + "/socket" : "127.0.0.1:0", own);
    Measured& measured = all.emplace_back();
    measured.network = network;
    measured.server =
        std::make_unique<bench::Child>([&settings, &config](const bench::Tell& tell, int life) {
          ServeInference(settings, config, tell, life);
        });
    if (measured.server->address().empty()) Give("the server of " + network + " did not start");
  }
  const bench::Child sink([&](const bench::Tell& tell, int) {
    bench::ServeSink(settings.uses_unix ? folder + "/sink" : "0", tell);
  });
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t c = 0; c < settings.connections; ++c) {
      all[i].connections.push_back(
          std::make_unique<Connection>(settings, all[i].server->address(), c));
    }
    all[i].Run(settings, settings.seconds / 4);
  }
  {
    bench::OneWayStream stream(sink.address(), settings.message_rows * kRowBytes);
    for (int round = 0; round < settings.rounds; ++round) {
      for (Measured& measured : all) measured.MeasureRound(settings, stream);
    }
  }
  for (Measured& measured : all) {
    measured.Print(settings);
    measured.connections.clear();
  }
  // A child also holds open what keeps the children alive that were made before it.
  while (!all.empty()) all.pop_back();
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  bench::Flags flags("Rows of pixels a second through an inference server, over the wire.");
  flags
      .Add("--networks", settings.networks,
           "values of policy.convolution; none: hardly a policy, but the path")
      .OneOf({"none", "small", "nature", "impala"});
  flags.Add("--device", settings.device, "inference.device").ShowDefault();
  flags.Add("--precision", settings.precision, "inference.precision, of impala on a GPU")
      .OneOf({"float32", "bfloat16"})
      .ShowDefault();
  flags.Add("--connections", settings.connections, "clients").InRange(1, 64).ShowDefault();
  flags.Add("--rows", settings.rows, "in flight on each connection").InRange(1, 8192).ShowDefault();
  flags.Add("--message", settings.message_rows, "rows of a first message")
      .InRange(1, 2048)
      .ShowDefault();
  flags.Add("--batch", settings.batch_rows, "inference.max_rows").InRange(1, 65536).ShowDefault();
  flags.Add("--threads", settings.threads, "of torch in a server").InRange(1, 256).ShowDefault();
  flags.Add("--seconds", settings.seconds, "of a round").Positive().ShowDefault();
  flags.Add("--rounds", settings.rounds).Positive().ShowDefault();
  flags.Add("--unix", settings.uses_unix, "sockets in the file system instead of TCP");
  if (const auto code = flags.Parse(argc, argv)) return *code;
  spdlog::set_level(spdlog::level::warn);
  // As inference does.
  runtime::KeepFreedMemory();
  ::signal(SIGPIPE, SIG_IGN);
  const std::string folder =
      (std::filesystem::temp_directory_path() / "bench_inference.").string() +
      std::to_string(::getpid());
  std::filesystem::create_directory(folder);
  Run(settings, folder);
  std::filesystem::remove_all(folder);
  return 0;
}
