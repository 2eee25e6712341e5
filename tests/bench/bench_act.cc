// SPDX-License-Identifier: Apache-2.0
// Measures environment rows per second through a real inference service on loopback. Clients and
// server run in one process. The policy is discrete, 4-64-64-2. Each stream sends its rows as one
// message, and the next message when all rows are answered. Unrolls of 16 rows are built and
// serialised.
//
//   bench_act [--seconds S] [--device LIST]
//
//     S: measured for each combination, default 2; LIST: inference.device, default cpu
//
// Prints one line for each combination on standard error and one JSON line on standard output.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "inference/service/inference_server.h"
#include "platform/runtime/log.h"
#include "platform/runtime/random.h"
#include "platform/transport/channel.h"
#include "platform/transport/client_stream.h"
#include "proto/act.grpc.pb.h"
#include "rl/model/policy.h"
#include "tests/bench/flags.h"
#include "tests/inference/service/loopback.h"

using namespace shoal;

namespace {

using SteadyClock = std::chrono::steady_clock;

// Sends `rows` environments in a closed loop on one stream.
class LoopStream final : public transport::ClientStream<proto::ActRequest, proto::ActReply> {
 public:
  LoopStream(std::uint64_t first_environment, std::int64_t rows)
      : first_environment_(first_environment), rows_(rows), random_(1, first_environment) {}

  void Measure(bool measuring) { measuring_.store(measuring); }
  void Stop() { stopping_.store(true); }
  std::vector<double>& latencies_us() { return latencies_us_; }

 private:
  void OnMessage(proto::ActReply&& reply) override {
    if (reply.has_replies()) {
      answered_ += reply.replies().environment_ids_size();
      if (answered_ < rows_) return;
      const std::chrono::duration<double, std::micro> latency = SteadyClock::now() - sent_;
      if (measuring_.load()) latencies_us_.push_back(latency.count());
    }
    if (stopping_.load()) {
      Close();
      return;
    }
    answered_ = 0;
    sent_ = SteadyClock::now();
    Send(Next());
  }
  void OnEnd(const absl::Status&) override {}

  proto::ActRequest Next() {
    proto::ActRequest request;
    proto::Rows& rows = *request.mutable_rows();
    std::string numbers;
    for (std::int64_t i = 0; i < rows_; ++i) {
      rows.add_environment_ids(first_environment_ + static_cast<std::uint64_t>(i));
      rows.add_incarnations(1);
      rows.add_sequences(sequence_);
      rows.add_episode_ids(0);
      rows.add_modes(proto::ROW_MODE_TRAIN);
      rows.add_rewards(1);
      rows.add_flags(sequence_ == 0 ? proto::ROW_FLAG_FIRST : 0);
      for (int j = 0; j < 4; ++j) {
        const auto number = static_cast<float>(random_.Uniform());
        numbers.append(reinterpret_cast<const char*>(&number), sizeof number);
      }
    }
    proto::NamedTensor& observation = *rows.add_observations();
    observation.set_name("state");
    observation.mutable_tensor()->set_dtype(proto::FLOAT32);
    observation.mutable_tensor()->add_shape(rows_);
    observation.mutable_tensor()->add_shape(4);
    observation.mutable_tensor()->set_data(std::move(numbers));
    ++sequence_;
    return request;
  }

  const std::uint64_t first_environment_;
  const std::int64_t rows_;
  runtime::Random random_;
  std::uint64_t sequence_ = 0;
  std::int64_t answered_ = 0;
  SteadyClock::time_point sent_;
  std::vector<double> latencies_us_;
  // Sequentially consistent, since main sets them and reactions read them.
  std::atomic<bool> measuring_{false};
  std::atomic<bool> stopping_{false};
};

absl::StatusOr<inference::InferenceConfig> ConfigIn(const std::string& folder,
                                                    const std::string& device) {
  inference::InferenceConfig config;
  config.options.device = device;
  config.policy.head = "discrete";
  config.policy.observation_size = 4;
  config.policy.action_count = 2;
  config.policy.content_fields = {};
  config.policy.past_requests = false;
  config.policy.hidden = {64, 64};
  config.policy.value_hidden = {64, 64};
  config.options.listen = "127.0.0.1:0";
  config.options.parameters_folder = folder;
  SHOAL_RETURN_IF_ERROR(inference::testing::SaveInitialParameters(config.policy, folder));
  return config;
}

double Quantile(const std::vector<double>& sorted, double q) {
  if (sorted.empty()) return 0;
  return sorted[static_cast<std::size_t>(q * static_cast<double>(sorted.size() - 1))];
}

absl::StatusOr<nlohmann::json> Measure(const std::string& folder, const std::string& device,
                                       int streams, std::int64_t rows, double seconds) {
  SHOAL_ASSIGN_OR_RETURN(inference::InferenceConfig config, ConfigIn(folder, device));
  runtime::Metrics metrics;
  SHOAL_ASSIGN_OR_RETURN(const auto server, inference::InferenceServer::Create(config, metrics));
  std::vector<std::unique_ptr<proto::Inference::Stub>> stubs;
  std::vector<std::shared_ptr<LoopStream>> loops;
  for (int i = 0; i < streams; ++i) {
    stubs.push_back(proto::Inference::NewStub(transport::CreateChannel(server->address())));
    loops.push_back(std::make_shared<LoopStream>(static_cast<std::uint64_t>(i) * 1000, rows));
    loops.back()->Start([&stub = *stubs.back()](auto* context, auto* reactor) {
      stub.async()->Act(context, reactor);
    });
    loops.back()->Send(inference::testing::HelloFor(config.policy));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const auto start = SteadyClock::now();
  for (const auto& loop : loops) loop->Measure(true);
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  for (const auto& loop : loops) loop->Measure(false);
  const std::chrono::duration<double> elapsed = SteadyClock::now() - start;
  for (const auto& loop : loops) loop->Stop();
  for (const auto& loop : loops) SHOAL_RETURN_IF_ERROR(loop->AwaitEnd());
  std::vector<double> latencies;
  for (const auto& loop : loops) {
    latencies.insert(latencies.end(), loop->latencies_us().begin(), loop->latencies_us().end());
  }
  std::sort(latencies.begin(), latencies.end());
  const auto batches =
      metrics.Histogram("shoal_inference_batch_rows", "Rows in a forward pass", {}).Collect();
  const double mean_batch =
      batches.histogram.sample_sum /
      std::max<double>(1, static_cast<double>(batches.histogram.sample_count));
  const double rate =
      static_cast<double>(latencies.size()) * static_cast<double>(rows) / elapsed.count();
  std::fprintf(stderr,
               "%2d streams x %2ld rows: %8.0f rows/s  p50 %6.0f us  p99 %6.0f us  batch %5.1f\n",
               streams, static_cast<long>(rows), rate, Quantile(latencies, 0.5),
               Quantile(latencies, 0.99), mean_batch);
  return nlohmann::json{{"streams", streams},
                        {"rows", rows},
                        {"rows_per_second", std::round(rate)},
                        {"p50_us", std::round(Quantile(latencies, 0.5))},
                        {"p99_us", std::round(Quantile(latencies, 0.99))},
                        {"mean_batch", std::round(mean_batch * 10) / 10}};
}

}  // namespace

int main(int argc, char** argv) {
  double seconds = 2;
  std::string device = "cpu";
  bench::Flags flags("Environment rows a second through the inference service.");
  flags.Add("--seconds", seconds, "measured for each combination");
  flags.Add("--device", device, "inference.device, one or a list with commas");
  if (const auto code = flags.Parse(argc, argv)) return *code;
  spdlog::set_level(spdlog::level::warn);
  model::SetTorchThreads(1);
  std::string folder = (std::filesystem::temp_directory_path() / "bench_act_XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) return 1;
  nlohmann::json results = nlohmann::json::array();
  for (const int streams : {1, 8, 64}) {
    for (const std::int64_t rows : {1, 16, 64}) {
      const auto result = Measure(folder, device, streams, rows, seconds);
      if (!result.ok()) {
        std::fprintf(stderr, "bench_act: %s\n", runtime::Message(result.status()).c_str());
        std::filesystem::remove_all(folder);
        return 1;
      }
      results.push_back(*result);
    }
  }
  std::filesystem::remove_all(folder);
  std::printf(
      "%s\n",
      nlohmann::json{
          {"bench", "act"}, {"network", "4-64-64-2"}, {"device", device}, {"results", results}}
          .dump()
          .c_str());
  return 0;
}
