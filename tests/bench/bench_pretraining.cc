// SPDX-License-Identifier: Apache-2.0
// Measures tokens per second of the language model's training steps on real captured texts, and the
// model's floating-point operations per second that they are. The last line is one JSON object.
//
// A token of a training step counts 6 N operations, with N parameters, and 6 L d T for attention to
// the tokens before it, with L layers of width d and sequences of T tokens. What checkpointed
// blocks compute again does not count. With --peak-tflops "mfu" is the share of what the device can
// do (Chowdhery et al. 2022, "PaLM", appendix B).
//
// Texts are resources' canonical texts, concatenated and cut into blocks of equal length, so that
// nothing is padded. Each token is a number computed from three bytes of the text. With --export
// the model and the blocks are written for a peer. With --on-request each line on standard input
// runs all batches once, one step of AdamW each, and prints the seconds and the mean loss, so that
// the bench and a peer can take turns (peers/huggingface_pretraining.sh).
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/runtime/median.h"
#include "rl/model/policy.h"
#include "rl/model/safetensors_file.h"
#include "tests/bench/captured_texts.h"
#include "tests/bench/flags.h"
#include "tests/bench/rounds.h"
#include "text/language/language_trainer.h"

namespace shoal {
namespace {

using SteadyClock = std::chrono::steady_clock;
using language::WeightedBatch;

struct Options {
  std::string preset = "tiny";
  std::string captures = "data/captures";
  std::string export_folder;
  std::int64_t block = 256;
  std::int64_t batch = 32;
  std::int64_t batches = 4;
  std::int64_t slice_tokens = language::TrainerOptions().slice_tokens;
  double learning_rate = 1e-4;
  std::string device = "cpu";
  bool bfloat16 = false;
  // 0: unknown.
  double peak_tflops = 0;
  int threads = 2;
  int rounds = 5;
  bool on_request = false;
};

// Returns `count` tokens, from the first capture on.
absl::StatusOr<std::vector<std::int32_t>> Tokens(const std::string& folder, std::size_t count,
                                                 std::int64_t vocabulary) {
  std::vector<std::int32_t> tokens;
  SHOAL_RETURN_IF_ERROR(bench::VisitCapturedTexts(folder, [&](std::string_view text) {
    for (std::size_t i = 0; i + 3 <= text.size() && tokens.size() < count; i += 3) {
      std::int64_t number = 0;
      for (std::size_t k = i; k < i + 3; ++k) {
        number = number * 251 + static_cast<unsigned char>(text[k]);
      }
      tokens.push_back(static_cast<std::int32_t>(number % vocabulary));
    }
    return tokens.size() < count;
  }));
  if (tokens.size() == count) return tokens;
  return runtime::NotFound("the captures in " + folder + " have no more than " +
                           std::to_string(tokens.size()) + " tokens");
}

absl::Status Export(const Options& options, const language::Gpt2Parameters& start,
                    const std::vector<std::int32_t>& tokens) {
  const std::vector<std::int64_t> ids(tokens.begin(), tokens.end());
  const auto tensor =
      runtime::Tensor::Of<std::int64_t>({options.batches, options.batch, options.block}, ids);
  const std::vector<model::SafetensorsItem> items = {{"ids", tensor}};
  SHOAL_RETURN_IF_ERROR(model::WriteSafetensorsFile(options.export_folder + "/batches.safetensors",
                                                    items, {{"format", "pt"}}));
  return language::WriteGpt2Folder(options.export_folder, start.config, start.flat);
}

std::vector<WeightedBatch> Batches(const Options& options,
                                   const std::vector<std::int32_t>& tokens) {
  std::vector<WeightedBatch> batches(static_cast<std::size_t>(options.batches));
  const auto block = static_cast<std::size_t>(options.block);
  std::size_t next = 0;
  for (WeightedBatch& batch : batches) {
    for (std::int64_t i = 0; i < options.batch; ++i, next += block) {
      batch.tokens.Append(std::span(tokens).subspan(next, block));
    }
  }
  return batches;
}

// The result of a round is the mean loss.
absl::StatusOr<bench::Round> RunOnce(language::LanguageTrainer& trainer,
                                     const std::vector<WeightedBatch>& batches, double rate) {
  bench::Round round;
  const auto start = SteadyClock::now();
  for (const WeightedBatch& batch : batches) {
    SHOAL_ASSIGN_OR_RETURN(const auto report, trainer.Step(batch, rate));
    round.result += report.loss.loss / static_cast<double>(batches.size());
  }
  round.seconds = std::chrono::duration<double>(SteadyClock::now() - start).count();
  return round;
}

double OperationsOfToken(const language::Gpt2Parameters& model, std::int64_t block) {
  const auto attention = static_cast<double>(model.config.layers * model.config.width * block);
  return 6 * (static_cast<double>(model.flat.size()) + attention);
}

absl::Status Run(const Options& options) {
  model::SetTorchThreads(options.threads);
  SHOAL_ASSIGN_OR_RETURN(const auto config, language::Gpt2Config::Preset(options.preset));
  SHOAL_ASSIGN_OR_RETURN(const auto start, language::InitialGpt2(config, 1));
  const std::int64_t count = options.batches * options.batch * options.block;
  SHOAL_ASSIGN_OR_RETURN(
      const auto tokens,
      Tokens(options.captures, static_cast<std::size_t>(count), config.vocabulary_size));
  if (!options.export_folder.empty()) SHOAL_RETURN_IF_ERROR(Export(options, start, tokens));
  const auto batches = Batches(options, tokens);
  collectives::SingleRank alone;
  SHOAL_ASSIGN_OR_RETURN(
      const auto trainer,
      language::LanguageTrainer::Create(
          start,
          {.device = options.device,
           .precision = options.bfloat16 ? runtime::DType::kBFloat16 : runtime::DType::kFloat32,
           .slice_tokens = options.slice_tokens},
          alone));
  SHOAL_ASSIGN_OR_RETURN(std::vector<double> seconds,
                         bench::RunRounds(options.rounds + 1, options.on_request, [&] {
                           return RunOnce(*trainer, batches, options.learning_rate);
                         }));
  if (!options.on_request) seconds.erase(seconds.begin());
  nlohmann::json line = {{"bench", "pretraining"},
                         {"preset", options.preset},
                         {"device", options.device},
                         {"threads", options.threads},
                         {"tokens", count}};
  if (!seconds.empty()) {
    const double tflops = OperationsOfToken(start, options.block) * static_cast<double>(count) /
                          runtime::Median(seconds) / 1e12;
    line["tflops"] = tflops;
    if (options.peak_tflops > 0) line["mfu"] = tflops / options.peak_tflops;
  }
  bench::PrintRates(std::move(line), count, std::move(seconds));
  return absl::OkStatus();
}

}  // namespace
}  // namespace shoal

int main(int argc, char** argv) {
  shoal::Options options;
  constexpr int kMostSize = 1'000'000;
  shoal::bench::Flags flags("Tokens a second of training the language model on captured texts.");
  flags.Add("--preset", options.preset, "tiny, small, medium, large, xl");
  flags.Add("--captures", options.captures, "folder of captures");
  flags.Add("--block", options.block, "tokens of a sequence").InRange(1, kMostSize);
  flags.Add("--batch", options.batch, "sequences of a step").InRange(1, kMostSize);
  flags.Add("--batches", options.batches, "steps of a round").InRange(1, kMostSize);
  flags.Add("--slice", options.slice_tokens, "tokens at once").InRange(1, kMostSize);
  flags.Add("--learning-rate", options.learning_rate, "constant");
  flags.Add("--device", options.device, "cpu or cuda");
  flags.Add("--peak-tflops", options.peak_tflops, "what the device multiplies at most, for the mfu")
      .Positive();
  flags.Add("--threads", options.threads, "of torch").InRange(1, 1024);
  flags.Add("--rounds", options.rounds, "times that all batches run, after one to warm up")
      .InRange(1, kMostSize);
  flags.Add("--export", options.export_folder, "folder for the model and the blocks");
  flags.Add("--bfloat16", options.bfloat16, "matrices and attention in bfloat16");
  flags.Add("--on-request", options.on_request, "one round for each line of standard input");
  if (const auto code = flags.Parse(argc, argv)) return *code;
  const absl::Status status = shoal::Run(options);
  if (status.ok()) return 0;
  std::fprintf(stderr, "bench_pretraining: %s\n", shoal::runtime::Message(status).c_str());
  return 1;
}
