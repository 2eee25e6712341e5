// SPDX-License-Identifier: Apache-2.0
// Measures tokens per second of the language model's hidden states for real captured texts of
// unequal lengths. The last line is one JSON object.
//
// A text is a resource's canonical text. Its number of tokens is a third of its length, at most the
// model's positions. Tokens are random, since the time does not depend on them. With --export the
// model and the batches are written for a peer. With --on-request each line on standard input runs
// all batches once and prints the seconds and the mean absolute number of the results, so that the
// bench and a peer can take turns (peers/huggingface_encoder.sh).
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/runtime/random.h"
#include "rl/model/policy.h"
#include "rl/model/safetensors_file.h"
#include "tests/bench/captured_texts.h"
#include "tests/bench/flags.h"
#include "tests/bench/rounds.h"
#include "text/language/gpt2.h"

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
  // The tokens if each batch is padded to its longest text.
  std::int64_t padded_tokens = 0;
};

// Returns the lengths in tokens of all resources of all captures, in order.
absl::StatusOr<std::vector<std::size_t>> Lengths(const std::string& folder) {
  std::vector<std::size_t> lengths;
  SHOAL_RETURN_IF_ERROR(bench::VisitCapturedTexts(folder, [&](std::string_view text) {
    lengths.push_back(std::max<std::size_t>(1, text.size() / kBytesPerToken));
    return true;
  }));
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

// The result of a round is the mean of the absolute numbers.
absl::StatusOr<bench::Round> RunOnce(const language::Gpt2& model, const Work& work) {
  bench::Round round;
  std::size_t numbers = 0;
  for (const TokenBatch& batch : work.batches) {
    const auto start = SteadyClock::now();
    SHOAL_ASSIGN_OR_RETURN(const runtime::Tensor hidden, model.HiddenStates(batch, -1));
    round.seconds += std::chrono::duration<double>(SteadyClock::now() - start).count();
    for (const float x : hidden.values<float>()) round.result += std::abs(x);
    numbers += hidden.size();
  }
  round.result /= static_cast<double>(numbers);
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
  SHOAL_ASSIGN_OR_RETURN(
      std::vector<double> seconds,
      bench::RunRounds(options.rounds, options.on_request, [&] { return RunOnce(*model, work); }));
  bench::PrintRates({{"bench", "encoder"},
                     {"preset", options.preset},
                     {"threads", options.threads},
                     {"texts", options.texts},
                     {"tokens", work.tokens},
                     {"padded_tokens", work.padded_tokens}},
                    work.tokens, std::move(seconds));
  return absl::OkStatus();
}

}  // namespace
}  // namespace shoal

int main(int argc, char** argv) {
  shoal::Options options;
  shoal::bench::Flags flags(
      "Tokens a second through the language model, hidden states of captured texts.");
  flags.Add("--preset", options.preset, "tiny, small, medium, large, xl");
  flags.Add("--captures", options.captures, "folder of captures");
  flags.Add("--texts", options.texts, "resources, spread over all captures").InRange(1, 1'000'000);
  flags.Add("--batch", options.batch, "texts in a batch").InRange(1, 1'000'000);
  flags.Add("--slice", options.slice_tokens, "tokens that run through the layers at once")
      .InRange(1, 1'000'000'000);
  flags.Add("--threads", options.threads, "of torch").InRange(1, 1024);
  flags.Add("--rounds", options.rounds, "times that all batches run").InRange(1, 1'000'000);
  flags.Add("--export", options.export_folder, "folder for the model and the batches");
  flags.Add("--bfloat16", options.bfloat16, "matrices and attention in bfloat16");
  flags.Add("--equal", options.equal, "256 tokens a text: nothing to pad");
  flags.Add("--on-request", options.on_request, "one round for each line of standard input");
  if (const auto code = flags.Parse(argc, argv)) return *code;
  const absl::Status status = shoal::Run(options);
  if (status.ok()) return 0;
  std::fprintf(stderr, "bench_encoder: %s\n", shoal::runtime::Message(status).c_str());
  return 1;
}
