// SPDX-License-Identifier: Apache-2.0
// Measures whether rows with embedded contents wait for the language model: their latency through a
// real inference service on loopback, alone and while the service encodes a burst of unknown texts.
// Client and server run in one process. The last line is one JSON object.
//
//   bench_embedding [--encoder both] [--texts 500] [--least-bytes 8192] [--rows 16] [--seconds 8]
//                   [--rounds 3]
//
// Each round has a server of its own. It is warmed up, measured alone, then given the burst with
// one row for each text, and measured until the burst is answered or the time is over. Texts are
// captured resources of at least --least-bytes; each string in them is changed, so that no chunk of
// them is known. Rows are sent in messages of --rows, the next one when all rows are answered.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "inference/service/inference_server.h"
#include "platform/content/canonical_json.h"
#include "platform/content/content_key.h"
#include "platform/runtime/log.h"
#include "platform/runtime/median.h"
#include "platform/transport/channel.h"
#include "platform/transport/client_stream.h"
#include "proto/act.grpc.pb.h"
#include "redfish/capture/capture.h"
#include "rl/model/policy.h"
#include "tests/bench/flags.h"
#include "tests/inference/service/loopback.h"
#include "text/embedding/make_text_encoder.h"

using namespace shoal;

namespace {

using SteadyClock = std::chrono::steady_clock;

struct Options {
  std::string encoder = "both";
  std::string capture = "data/captures/dell-r750.tar.xz";
  std::size_t texts = 500;
  std::size_t least_bytes = 8192;
  std::int64_t rows = 16;
  double seconds = 8;
  int rounds = 3;
};

constexpr int kCandidates = 200;
// The number of rows in a message of the burst.
constexpr std::size_t kBurstRows = 64;

// Sends rows of the environments from `first_environment` on, message by message or one alone.
class RowStream final : public transport::ClientStream<proto::ActRequest, proto::ActReply> {
 public:
  RowStream(std::uint64_t first_environment, std::string catalog_key)
      : first_(first_environment), catalog_key_(std::move(catalog_key)) {}

  // Makes rows of the environments from `first` on with these contents: goal, request, body.
  proto::ActRequest Request(std::size_t first, const std::vector<std::vector<std::string>>& texts,
                            bool with_texts) {
    proto::ActRequest request;
    proto::Rows& rows = *request.mutable_rows();
    std::vector<std::string> keys(3);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const std::uint64_t environment = first_ + first + i;
      std::uint64_t& sequence = sequences_[environment];
      rows.add_environment_ids(environment);
      rows.add_incarnations(1);
      rows.add_sequences(sequence);
      rows.add_episode_ids(0);
      rows.add_modes(proto::ROW_MODE_EVALUATE);
      rows.add_rewards(0);
      rows.add_flags(sequence == 0 ? proto::ROW_FLAG_FIRST : 0);
      rows.add_catalogs(0);
      ++sequence;
      for (std::size_t field = 0; field < keys.size(); ++field) {
        const content::ContentKey key = content::KeyOf(texts[i][field]);
        keys[field].append(key.AsBytes());
        if (!with_texts) continue;
        proto::Content& content = *request.add_contents();
        content.set_key(std::string(key.AsBytes()));
        content.set_text(texts[i][field]);
      }
    }
    for (const std::string& key : keys) rows.add_content_keys(key);
    rows.add_catalog_keys(catalog_key_);
    proto::NamedTensor& observation = *rows.add_observations();
    observation.set_name("state");
    observation.mutable_tensor()->set_dtype(proto::FLOAT32);
    observation.mutable_tensor()->add_shape(static_cast<std::int64_t>(texts.size()));
    observation.mutable_tensor()->add_shape(1);
    observation.mutable_tensor()->set_data(std::string(texts.size() * sizeof(float), '\0'));
    return request;
  }

  // Returns the number of rows answered with an action so far.
  std::int64_t answered() const {
    const runtime::MutexLock lock(mutex_);
    return answered_;
  }
  std::int64_t refused() const {
    const runtime::MutexLock lock(mutex_);
    return refused_;
  }
  // Returns false if the stream ended before.
  bool AwaitAnswered(std::int64_t rows) {
    const runtime::MutexLock lock(mutex_);
    while (answered_ + refused_ < rows && !ended_) changed_.Wait(mutex_);
    return answered_ >= rows;
  }

 private:
  void OnMessage(proto::ActReply&& reply) override {
    const runtime::MutexLock lock(mutex_);
    for (const int status : reply.replies().statuses()) {
      ++(status == proto::ROW_OK ? answered_ : refused_);
    }
    changed_.NotifyAll();
  }
  void OnEnd(const absl::Status&) override {
    const runtime::MutexLock lock(mutex_);
    ended_ = true;
    changed_.NotifyAll();
  }

  const std::uint64_t first_;
  const std::string catalog_key_;
  std::map<std::uint64_t, std::uint64_t> sequences_;

  mutable runtime::Mutex mutex_;
  runtime::CondVar changed_;
  std::int64_t answered_ ABSL_GUARDED_BY(mutex_) = 0;
  std::int64_t refused_ ABSL_GUARDED_BY(mutex_) = 0;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
};

absl::StatusOr<inference::InferenceConfig> ConfigIn(const std::string& folder,
                                                    const Options& options, int round) {
  inference::InferenceConfig config;
  config.options.listen = "127.0.0.1:0";
  config.options.parameters_folder = folder;
  config.options.encoder.encoder = options.encoder;
  config.options.embedding_cache.encoder_cache =
      folder + "/round" + std::to_string(round) + ".sqlite";
  SHOAL_ASSIGN_OR_RETURN(const auto encoder,
                         embedding::MakeTextEncoder(config.options.encoder, {}, nullptr));
  config.policy.observation_size = 1;
  config.policy.embedding_size = encoder->dimension();
  config.policy.similarity_size = std::min<std::int64_t>(512, encoder->dimension());
  SHOAL_RETURN_IF_ERROR(inference::testing::SaveInitialParameters(config.policy, folder));
  return config;
}

// Appends `mark` to every string of `value`.
void Mark(nlohmann::json& value, const std::string& mark) {
  if (value.is_string()) value = value.get<std::string>() + mark;
  if (!value.is_structured()) return;
  for (nlohmann::json& element : value) Mark(element, mark);
}

absl::StatusOr<std::vector<std::string>> LargeTexts(const Options& options) {
  SHOAL_ASSIGN_OR_RETURN(const auto capture, redfish::Capture::Load(options.capture));
  std::vector<nlohmann::json> large;
  for (const auto& [uri, body] : capture->resources()) {
    if (body.dump().size() >= options.least_bytes) large.push_back(body);
  }
  if (large.empty()) return runtime::NotFound(options.capture + " has no resource so large");
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < options.texts; ++i) {
    nlohmann::json body = large[i % large.size()];
    Mark(body, " " + std::to_string(i));
    texts.push_back(content::CanonicalJson(body, content::DefaultVolatileNames()));
  }
  return texts;
}

std::vector<std::string> Candidates() {
  std::vector<std::string> candidates;
  for (int i = 0; i < kCandidates; ++i) {
    candidates.push_back(
        content::CanonicalJson({{"method", "PATCH"},
                                {"uri", "/redfish/v1/Systems/" + std::to_string(i)},
                                {"type", "ComputerSystem"},
                                {"body", {{"AssetTag", "rack " + std::to_string(i)}}}}));
  }
  return candidates;
}

struct Latencies {
  std::vector<double> microseconds;
  double At(double quantile) {
    if (microseconds.empty()) return 0;
    std::sort(microseconds.begin(), microseconds.end());
    return microseconds[static_cast<std::size_t>(quantile *
                                                 static_cast<double>(microseconds.size() - 1))];
  }
};

// Sends messages of cached rows one at a time until `seconds` are over or `done` returns true.
template <typename Done>
Latencies Measure(RowStream& stream, const std::vector<std::vector<std::string>>& rows,
                  double seconds, const Done& done) {
  Latencies latencies;
  const auto end = SteadyClock::now() + std::chrono::duration<double>(seconds);
  while (SteadyClock::now() < end && !done()) {
    const std::int64_t before = stream.answered();
    proto::ActRequest request = stream.Request(0, rows, false);
    const auto start = SteadyClock::now();
    stream.Send(std::move(request));
    if (!stream.AwaitAnswered(before + static_cast<std::int64_t>(rows.size()))) break;
    const std::chrono::duration<double, std::micro> latency = SteadyClock::now() - start;
    latencies.microseconds.push_back(latency.count());
  }
  return latencies;
}

struct Round {
  Latencies alone;
  Latencies in_burst;
  double burst_seconds = 0;
  std::int64_t burst_answered = 0;
};

absl::StatusOr<Round> RunRound(const std::string& folder, const Options& options,
                               const std::vector<std::string>& texts, int number) {
  SHOAL_ASSIGN_OR_RETURN(inference::InferenceConfig config, ConfigIn(folder, options, number));
  runtime::Metrics metrics;
  SHOAL_ASSIGN_OR_RETURN(const auto server, inference::InferenceServer::Create(config, metrics));
  const auto stub = proto::Inference::NewStub(transport::CreateChannel(server->address()));
  const std::vector<std::string> candidates = Candidates();
  proto::ActRequest lists;
  proto::Catalog& catalog = *lists.add_catalogs();
  std::vector<content::ContentKey> keys;
  for (const std::string& candidate : candidates) {
    keys.push_back(content::KeyOf(candidate));
    proto::Content& content = *lists.add_contents();
    content.set_key(std::string(keys.back().AsBytes()));
    content.set_text(candidate);
  }
  const std::string catalog_key(
      content::KeyOf(std::span<const content::ContentKey>(keys)).AsBytes());
  catalog.set_key(catalog_key);
  catalog.set_candidate_keys(std::string(content::AsBytes(keys)));

  std::vector<std::vector<std::string>> cached;
  for (std::int64_t i = 0; i < options.rows; ++i) {
    cached.push_back({"set the asset tag of system " + std::to_string(i), candidates[0],
                      "{\"AssetTag\":\"rack " + std::to_string(i) + "\"}"});
  }
  const auto open = [&](std::uint64_t first_environment) {
    auto stream = std::make_shared<RowStream>(first_environment, catalog_key);
    stream->Start([&stub](auto* context, auto* reactor) { stub->async()->Act(context, reactor); });
    stream->Send(inference::testing::HelloFor(config.policy));
    return stream;
  };
  const auto warm = open(1'000'000);
  const auto cold = open(2'000'000);
  warm->Send(std::move(lists));
  warm->Send(warm->Request(0, cached, true));
  Round round;
  if (!warm->AwaitAnswered(options.rows)) return runtime::Internal("the warm-up was not answered");
  Measure(*warm, cached, 1, [] { return false; });
  round.alone = Measure(*warm, cached, options.seconds, [] { return false; });

  const auto start = SteadyClock::now();
  for (std::size_t i = 0; i < texts.size(); i += kBurstRows) {
    std::vector<std::vector<std::string>> rows;
    for (std::size_t j = i; j < std::min(texts.size(), i + kBurstRows); ++j) {
      rows.push_back({cached[0][0], candidates[0], texts[j]});
    }
    cold->Send(cold->Request(i, rows, true));
  }
  round.in_burst = Measure(*warm, cached, options.seconds, [&] {
    return cold->answered() + cold->refused() >= static_cast<std::int64_t>(texts.size());
  });
  const std::chrono::duration<double> elapsed = SteadyClock::now() - start;
  round.burst_seconds = elapsed.count();
  round.burst_answered = cold->answered();
  const std::int64_t refused = cold->refused();
  for (const auto& stream : {warm, cold}) {
    stream->Cancel();
    (void)stream->AwaitEnd();
  }
  if (refused > 0) return runtime::Internal(std::to_string(refused) + " rows were refused");
  return round;
}

absl::StatusOr<nlohmann::json> Run(const std::string& folder, const Options& options) {
  SHOAL_ASSIGN_OR_RETURN(const std::vector<std::string> texts, LargeTexts(options));
  nlohmann::json rounds = nlohmann::json::array();
  std::vector<double> ratios;
  for (int i = 0; i < options.rounds; ++i) {
    SHOAL_ASSIGN_OR_RETURN(Round round, RunRound(folder, options, texts, i));
    ratios.push_back(round.in_burst.At(0.99) / round.alone.At(0.99));
    rounds.push_back({{"alone_p50_us", std::round(round.alone.At(0.5))},
                      {"alone_p99_us", std::round(round.alone.At(0.99))},
                      {"burst_p50_us", std::round(round.in_burst.At(0.5))},
                      {"burst_p99_us", std::round(round.in_burst.At(0.99))},
                      {"alone_messages", round.alone.microseconds.size()},
                      {"burst_messages", round.in_burst.microseconds.size()},
                      {"burst_seconds", round.burst_seconds},
                      {"burst_answered", round.burst_answered}});
    std::fprintf(stderr, "round %d: %s\n", i + 1, rounds.back().dump().c_str());
  }
  return nlohmann::json{{"bench", "embedding"},  {"encoder", options.encoder},
                        {"texts", texts.size()}, {"rows", options.rows},
                        {"rounds", rounds},      {"p99_ratio", runtime::Median(ratios)}};
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  bench::Flags flags(
      "Latency of rows with known contents, alone and beside a burst of unknown texts.");
  flags.Add("--encoder", options.encoder, "As inference.encoder").ShowDefault();
  flags.Add("--capture", options.capture, "Where the texts come from").ShowDefault();
  flags.Add("--texts", options.texts, "Of the burst").ShowDefault();
  flags.Add("--least-bytes", options.least_bytes, "Of a text").ShowDefault();
  flags.Add("--rows", options.rows, "Of a message of known rows").Positive().ShowDefault();
  flags.Add("--seconds", options.seconds, "Measured alone, and beside the burst at most")
      .Positive()
      .ShowDefault();
  flags.Add("--rounds", options.rounds, "Each with a new server").Positive().ShowDefault();
  if (const auto code = flags.Parse(argc, argv)) return *code;
  spdlog::set_level(spdlog::level::warn);
  model::SetTorchThreads(1);
  std::string folder = (std::filesystem::temp_directory_path() / "bench_embedding_XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) return 1;
  const auto results = Run(folder, options);
  std::filesystem::remove_all(folder);
  if (!results.ok()) {
    std::fprintf(stderr, "bench_embedding: %s\n", runtime::Message(results.status()).c_str());
    return 1;
  }
  std::printf("%s\n", results->dump().c_str());
  return 0;
}
