// SPDX-License-Identifier: Apache-2.0
// Hidden states of the language model for real captured texts of unequal lengths: tokens a second.
// Prints one JSON line, last.
//
// A text is a resource's canonical text, a third of its length its number of tokens, cut at the
// model's positions; which tokens changes nothing in the time, so they are drawn. With --export
// the model and the batches are left for a peer; with --on-request each line on standard input
// runs all batches once and prints the seconds and the mean size of a number in the results, so
// that a peer can take turns (peers/huggingface_encoder.sh).
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "content/canonical_json.h"
#include "language/gpt2.h"
#include "model/policy.h"
#include "model/safetensors_file.h"
#include "redfish/capture.h"
#include "runtime/clock.h"
#include "runtime/random.h"

namespace shoal {
namespace {

using language::TokenBatch;
using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kBytesPerToken = 3;

struct Options {
  std::string preset = "tiny";
  std::string captures = "data/captures";
  std::string export_folder;
  std::int64_t texts = 256;
  std::int64_t batch = 32;
  std::int64_t slice_tokens = language::Gpt2Options().slice_tokens;
  int threads = 2;
  int rounds = 5;
  bool bfloat16 = false;
  bool equal = false;
  bool on_request = false;
};

struct Work {
  std::vector<TokenBatch> batches;
  std::int64_t tokens = 0;
  // With each batch filled up to its longest text.
  std::int64_t padded_tokens = 0;
};

// Lengths in tokens of all resources of all captures, in order.
absl::StatusOr<std::vector<std::size_t>> Lengths(const std::string& folder) {
  std::set<std::string> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().string().ends_with(".tar.xz")) paths.insert(entry.path().string());
  }
  if (error || paths.empty()) return runtime::NotFound("no captures in " + folder);
  std::vector<std::size_t> lengths;
  for (const std::string& path : paths) {
    SHOAL_ASSIGN_OR_RETURN(const auto capture, redfish::Capture::Load(path));
    for (const auto& [uri, body] : capture->resources()) {
      const auto text = content::CanonicalJson(body, content::DefaultVolatileNames());
      lengths.push_back(std::max<std::size_t>(1, text.size() / kBytesPerToken));
    }
  }
  return lengths;
}

absl::StatusOr<Work> MakeWork(const Options& options, const language::Gpt2Config& config) {
  SHOAL_ASSIGN_OR_RETURN(const std::vector<std::size_t> lengths, Lengths(options.captures));
  const auto count = std::min<std::size_t>(lengths.size(), static_cast<std::size_t>(options.texts));
  runtime::Random random(1);
  Work work;
  std::int64_t longest = 0;
  const auto close = [&] {
    work.padded_tokens += longest * work.batches.back().sequences();
    longest = 0;
  };
  for (std::size_t i = 0; i < count; ++i) {
    if (i % static_cast<std::size_t>(options.batch) == 0) {
      if (i > 0) close();
      work.batches.emplace_back();
    }
    const std::size_t real = lengths[i * lengths.size() / count];
    const std::size_t length =
        options.equal ? 256 : std::min(real, static_cast<std::size_t>(config.positions));
    std::vector<std::int32_t> ids(length);
    for (std::int32_t& id : ids) {
      id = static_cast<std::int32_t>(
          random.Below(static_cast<std::uint64_t>(config.vocabulary_size)));
    }
    work.batches.back().Append(ids);
    work.tokens += static_cast<std::int64_t>(length);
    longest = std::max(longest, static_cast<std::int64_t>(length));
  }
  close();
  return work;
}

absl::Status Export(const std::string& folder, const language::Gpt2Parameters& parameters,
                    const Work& work) {
  std::vector<std::int64_t> ids;
  std::vector<std::int64_t> lengths;
  std::vector<std::int64_t> sizes;
  for (const TokenBatch& batch : work.batches) {
    ids.insert(ids.end(), batch.ids.begin(), batch.ids.end());
    for (std::int64_t s = 0; s < batch.sequences(); ++s) lengths.push_back(batch.length(s));
    sizes.push_back(batch.sequences());
  }
  const auto tensor = [](const std::vector<std::int64_t>& values) {
    return runtime::Tensor::Of<std::int64_t>({static_cast<std::int64_t>(values.size())}, values);
  };
  const auto all = {tensor(ids), tensor(lengths), tensor(sizes)};
  const std::vector<model::SafetensorsItem> items = {
      {"ids", all.begin()[0]}, {"lengths", all.begin()[1]}, {"sizes", all.begin()[2]}};
  SHOAL_RETURN_IF_ERROR(
      model::WriteSafetensorsFile(folder + "/batches.safetensors", items, {{"format", "pt"}}));
  return language::WriteGpt2Folder(folder, parameters.config, parameters.flat);
}

struct Round {
  double seconds = 0;
  // Mean of the absolute numbers: equal for all who compute the same.
  double size = 0;
};

absl::StatusOr<Round> RunOnce(const language::Gpt2& model, const Work& work) {
  Round round;
  std::size_t numbers = 0;
  for (const TokenBatch& batch : work.batches) {
    const auto start = SteadyClock::now();
    SHOAL_ASSIGN_OR_RETURN(const runtime::Tensor hidden, model.HiddenStates(batch, -1));
    round.seconds += std::chrono::duration<double>(SteadyClock::now() - start).count();
    for (const float x : hidden.values<float>()) round.size += std::abs(x);
    numbers += hidden.size();
  }
  round.size /= static_cast<double>(numbers);
  return round;
}

absl::Status Run(const Options& options) {
  model::SetTorchThreads(options.threads);
  SHOAL_ASSIGN_OR_RETURN(const auto config, language::Gpt2Config::Preset(options.preset));
  SHOAL_ASSIGN_OR_RETURN(const auto parameters, language::InitialGpt2(config, 1));
  SHOAL_ASSIGN_OR_RETURN(const Work work, MakeWork(options, config));
  if (!options.export_folder.empty()) {
    SHOAL_RETURN_IF_ERROR(Export(options.export_folder, parameters, work));
  }
  const auto precision = options.bfloat16 ? runtime::DType::kBFloat16 : runtime::DType::kFloat32;
  SHOAL_ASSIGN_OR_RETURN(
      const auto model,
      language::Gpt2::Create(parameters, nullptr,
                             {.precision = precision, .slice_tokens = options.slice_tokens}));
  SHOAL_RETURN_IF_ERROR(RunOnce(*model, work).status());
  std::vector<double> seconds;
  const auto measure = [&]() -> absl::Status {
    SHOAL_ASSIGN_OR_RETURN(const Round round, RunOnce(*model, work));
    seconds.push_back(round.seconds);
    std::printf("%.6f %.6f\n", round.seconds, round.size);
    std::fflush(stdout);
    return absl::OkStatus();
  };
  if (options.on_request) {
    std::printf("ready\n");
    std::fflush(stdout);
    for (std::string line; std::getline(std::cin, line);) SHOAL_RETURN_IF_ERROR(measure());
  } else {
    for (int i = 0; i < options.rounds; ++i) SHOAL_RETURN_IF_ERROR(measure());
  }
  if (seconds.empty()) return absl::OkStatus();
  std::sort(seconds.begin(), seconds.end());
  const auto rate = [&](double time) {
    return std::round(static_cast<double>(work.tokens) / time);
  };
  const nlohmann::json line = {{"bench", "encoder"},
                               {"preset", options.preset},
                               {"threads", options.threads},
                               {"texts", options.texts},
                               {"tokens", work.tokens},
                               {"padded_tokens", work.padded_tokens},
                               {"tokens_per_second", rate(seconds[seconds.size() / 2])},
                               {"best", rate(seconds.front())},
                               {"worst", rate(seconds.back())}};
  std::printf("%s\n", line.dump().c_str());
  return absl::OkStatus();
}

}  // namespace
}  // namespace shoal

int main(int argc, char** argv) {
  shoal::Options options;
  CLI::App app("Tokens a second through the language model, hidden states of captured texts.");
  app.add_option("--preset", options.preset, "tiny, small, medium, large, xl");
  app.add_option("--captures", options.captures, "folder of captures");
  app.add_option("--texts", options.texts, "resources, spread over all captures")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--batch", options.batch, "texts in a batch")->check(CLI::Range(1, 1'000'000));
  app.add_option("--slice", options.slice_tokens, "tokens that run through the layers at once")
      ->check(CLI::Range(1, 1'000'000'000));
  app.add_option("--threads", options.threads, "of torch")->check(CLI::Range(1, 1024));
  app.add_option("--rounds", options.rounds, "times that all batches run")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--export", options.export_folder, "folder for the model and the batches");
  app.add_flag("--bfloat16", options.bfloat16, "matrices and attention in bfloat16");
  app.add_flag("--equal", options.equal, "256 tokens a text: nothing to pad");
  app.add_flag("--on-request", options.on_request, "one round for each line of standard input");
  CLI11_PARSE(app, argc, argv);
  const absl::Status status = shoal::Run(options);
  if (status.ok()) return 0;
  std::fprintf(stderr, "bench_encoder: %s\n", shoal::runtime::Message(status).c_str());
  return 1;
}
