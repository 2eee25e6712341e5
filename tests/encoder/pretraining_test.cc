// SPDX-License-Identifier: Apache-2.0
#include "encoder/pretraining.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "encoder/pretraining_plan.h"
#include "encoder/recent_rate.h"
#include "encoder/training_log.h"
#include "platform/runtime/atomic_file.h"
#include "rl/model/compute_device.h"
#include "tests/doubles/gpu_left_out.h"
#include "tests/doubles/ranks.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/encoder/small_run.h"
#include "text/language/gpt2_folder.h"
#include "text/language/lora.h"

namespace shoal::encoder {
namespace {

using doubles::TemporaryFolder;
using nlohmann::json;

// Makes `run` look as if its process had been killed some steps after checkpoint `kept`.
void CutAfter(const std::string& run, std::int64_t kept) {
  for (const auto& entry : std::filesystem::directory_iterator(run + "/checkpoints")) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("checkpoint-") && std::stoll(name.substr(11)) > kept) {
      std::filesystem::remove_all(entry.path());
    }
  }
  std::filesystem::remove_all(run + "/model");
  std::ofstream(run + "/metrics.jsonl", std::ios::app) << R"({"step":9,"lo)";
}

TEST_CASE("a run learns its texts, and leaves a model, a curve, events and a report") {
  const TemporaryFolder folder;
  PretrainingOptions options = Options(folder, "run");
  options.steps = 60;
  std::string summary;
  REQUIRE(Run(options, &summary).ok());
  INFO(summary);
  REQUIRE(summary.find("steps=60") != std::string::npos);
  REQUIRE(summary.find("held_out_accuracy=") != std::string::npos);
  const auto rows = Rows(options.output);
  REQUIRE(rows.size() == 60 + 15);
  REQUIRE(rows.front()["loss"].get<double>() == Approx(std::log(kVocabulary)).epsilon(0.05));
  REQUIRE(rows.back()["held_out_loss"].get<double>() < 1);
  REQUIRE(rows.back()["held_out_perplexity"].get<double>() ==
          Approx(std::exp(rows.back()["held_out_loss"].get<double>())));
  const auto model = language::ReadGpt2Folder(options.output + "/model").value();
  REQUIRE(model.config.vocabulary_size == kVocabulary);
  const std::string report = Bytes(options.output + "/report.html");
  REQUIRE(report.find("<svg") != std::string::npos);
  REQUIRE(report.find("held_out_loss=") != std::string::npos);
  std::size_t events = 0;
  for (const auto& entry : std::filesystem::directory_iterator(options.output)) {
    events += entry.path().filename().string().starts_with("events.out.tfevents.") ? 1U : 0U;
  }
  REQUIRE(events == 1);
}

TEST_CASE("a run that was killed goes on with the same curve and ends with the same bits") {
  for (const char* loss : {"all", "0:all,0.4:random,0.8:actions+response"}) {
    const TemporaryFolder folder;
    PretrainingOptions options = Options(folder, "run");
    options.loss = loss;
    options.evaluate_on = "all";
    REQUIRE(Run(options).ok());
    const auto rows = Rows(options.output);
    const std::string weights = Bytes(options.output + "/model/model.safetensors");
    CutAfter(options.output, 5);
    options.resume = true;
    REQUIRE(Run(options).ok());
    REQUIRE(Rows(options.output) == rows);
    REQUIRE(Bytes(options.output + "/model/model.safetensors") == weights);
    // A finished run does not change when it is started again.
    REQUIRE(Run(options).ok());
    REQUIRE(Rows(options.output) == rows);
  }
}

TEST_CASE("two ranks have the curve of one") {
  const TemporaryFolder folder;
  const PretrainingOptions alone = Options(folder, "alone");
  REQUIRE(Run(alone).ok());
  const PretrainingOptions together = Options(folder, "together");
  const Corpus corpus;
  std::vector<std::string> summaries(2);
  doubles::RunRanks(2, [&](std::size_t rank, collectives::GradientReducer& reducer) {
    std::ostringstream out;
    const absl::Status end = Pretrain(together, corpus.material, reducer, Never, out);
    summaries[rank] = out.str();
    return end;
  });
  INFO(summaries[0] << summaries[1]);
  REQUIRE(summaries[1].empty());
  const auto one = Rows(alone.output);
  const auto two = Rows(together.output);
  REQUIRE(one.size() == two.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    for (const char* key : {"loss", "held_out_loss", "gradient_norm"}) {
      if (!one[i].contains(key)) continue;
      REQUIRE(two[i].at(key).get<double>() == Approx(one[i].at(key).get<double>()).epsilon(1e-5));
    }
    REQUIRE(one[i].value("targets", 0.0) == two[i].value("targets", 0.0));
    REQUIRE_FALSE(one[i].contains("straggler_ratio"));
    if (!two[i].contains("loss")) continue;
    REQUIRE(two[i].at("straggler_ratio").get<double>() >= 1);
    REQUIRE(two[i].at("data_skew").get<double>() >= 1);
    REQUIRE(two[i].at("exposed_communication_seconds").get<double>() <=
            two[i].at("communication_seconds").get<double>());
  }
}

TEST_CASE(
    "the line of a run says how much of a step is communication, and how slow the slowest is") {
  TrainingRow row;
  REQUIRE(ProgressLine(row).find("communication") == std::string::npos);
  row.ranks = {.working_seconds = {3, 1},
               .rows = {10, 10},
               .communication_seconds = 2,
               .exposed_communication_seconds = 1};
  REQUIRE(ProgressLine(row).ends_with("  communication 25%  slowest rank 1.50"));
}

// Trains for so many steps more with so many ranks.
void GoOn(const PretrainingOptions& options, const Corpus& corpus, std::size_t ranks, int steps) {
  doubles::RunRanks(ranks, [&](std::size_t, collectives::GradientReducer& reducer) {
    std::ostringstream out;
    return Pretrain(options, corpus.material, reducer, After(steps), out);
  });
}

// Requires that two runs have the same curve of losses, up to rounding.
void RequireSameLosses(const PretrainingOptions& one, const PretrainingOptions& other) {
  const auto expected = Rows(one.output);
  const auto rows = Rows(other.output);
  REQUIRE(rows.size() == expected.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const char* key : {"loss", "held_out_loss"}) {
      if (!expected[i].contains(key)) continue;
      REQUIRE(rows[i].at(key).get<double>() ==
              Approx(expected[i].at(key).get<double>()).epsilon(1e-5));
    }
  }
}

TEST_CASE("a run that ranks have divided goes on with other ranks and stages, on the same curve") {
  const TemporaryFolder folder;
  const PretrainingOptions alone = Options(folder, "alone");
  REQUIRE(Run(alone).ok());
  const Corpus corpus;
  PretrainingOptions options = Options(folder, "divided");
  options.resume = true;
  const auto train = [&](std::size_t ranks, std::int64_t stage, int steps) {
    options.zero_stage = stage;
    GoOn(options, corpus, ranks, steps);
  };
  train(2, 2, 3);
  train(3, 3, 2);
  train(1, 0, 2);
  train(2, 1, 1);
  train(4, 3, 1000);
  RequireSameLosses(alone, options);
}

TEST_CASE("a run that ranks divide by tensor parallelism goes on with other sizes, and back") {
  const TemporaryFolder folder;
  const PretrainingOptions alone = Options(folder, "alone");
  REQUIRE(Run(alone).ok());
  const Corpus corpus;
  PretrainingOptions options = Options(folder, "divided");
  options.resume = true;
  const auto train = [&](std::size_t ranks, std::int64_t tensor, int steps) {
    options.tensor_parallel = tensor;
    GoOn(options, corpus, ranks, steps);
  };
  train(2, 2, 3);
  train(1, 1, 3);
  train(4, 2, 2);
  train(2, 1, 2);
  train(2, 2, 1000);
  RequireSameLosses(alone, options);
  const auto expected = language::ReadGpt2Folder(alone.output + "/model").value();
  const auto model = language::ReadGpt2Folder(options.output + "/model").value();
  REQUIRE(model.config == expected.config);
  REQUIRE(model.flat.size() == expected.flat.size());
}

TEST_CASE("a run by epochs passes each text as often, and its rate ends at the floor") {
  const TemporaryFolder folder;
  PretrainingOptions options = Options(folder, "run");
  options.steps = 0;
  options.epochs = 2;
  options.hold_out = {};
  options.floor = 0;
  REQUIRE(Run(options).ok());
  const auto rows = Rows(options.output);
  const auto last = std::find_if(rows.rbegin(), rows.rend(),
                                 [](const json& row) { return row.contains("epochs"); });
  REQUIRE(last->at("epochs") == 2);
  std::int64_t tokens = 0;
  for (const Chunk& chunk : Corpus().material.training) {
    tokens += static_cast<std::int64_t>(chunk.tokens.size());
  }
  REQUIRE(last->at("tokens") == 2 * tokens);
  REQUIRE(last->at("learning_rate").get<double>() < 0.1 * options.learning_rate);
}

TEST_CASE("the curriculum decides which tokens count, and when") {
  const TemporaryFolder folder;
  PretrainingOptions options = Options(folder, "run");
  options.loss = "0:actions,0.5:response";
  options.attention = "all";
  REQUIRE(Run(options).ok());
  for (const json& row : Rows(options.output)) {
    if (!row.contains("stage")) continue;
    REQUIRE(row["stage"] == (row["step"] <= 6 ? "actions" : "response"));
  }
  // The held-out measure uses the last stage's tokens: three of each of the four texts.
  REQUIRE(Rows(options.output).back()["held_out_targets"] == 12);
}

TEST_CASE("a run ends early when what is held out gets no better") {
  const TemporaryFolder folder;
  PretrainingOptions options = Options(folder, "run");
  options.hold_out = {"some"};
  options.steps = 1000;
  options.evaluate_every = 1;
  options.patience = 2;
  options.least_improvement = 100;
  std::string summary;
  REQUIRE(Run(options, &summary).ok());
  REQUIRE(summary.find("steps=3 ") != std::string::npos);
  REQUIRE(summary.find("stopped=early") != std::string::npos);
}

TEST_CASE("an adapter is trained beside the model and merged into what is written") {
  const TemporaryFolder folder;
  PretrainingOptions options = Options(folder, "run");
  options.lora_rank = 2;
  REQUIRE(Run(options).ok());
  const auto start = language::ReadGpt2Folder(options.model).value();
  const auto adapter =
      language::ReadLora(options.output + "/adapter.safetensors", start.config).value();
  REQUIRE(adapter.options.rank == 2);
  auto merged = start;
  language::MergeLora(adapter, merged);
  REQUIRE(merged.flat == language::ReadGpt2Folder(options.output + "/model")->flat);
}

TEST_CASE("weights of half precision are those of the run, rounded, and change nothing in it") {
  const TemporaryFolder folder;
  PretrainingOptions options = Options(folder, "run");
  REQUIRE(Run(options).ok());
  const auto full = language::ReadGpt2Folder(options.output + "/model").value();
  const auto size = std::filesystem::file_size(options.output + "/model/model.safetensors");
  const auto rows = Rows(options.output);
  for (const auto& [name, error] : {std::pair("float16", 0x1p-11), std::pair("bfloat16", 0x1p-8)}) {
    options.output = folder.path() + "/" + name;
    options.weights = name;
    REQUIRE(Run(options).ok());
    REQUIRE(Rows(options.output) == rows);
    REQUIRE(3 * std::filesystem::file_size(options.output + "/model/model.safetensors") < 2 * size);
    const auto half = language::ReadGpt2Folder(options.output + "/model").value();
    REQUIRE(half.flat.size() == full.flat.size());
    REQUIRE(half.flat != full.flat);
    for (std::size_t i = 0; i < full.flat.size(); ++i) {
      REQUIRE(std::abs(half.flat[i] - full.flat[i]) <= error * std::abs(full.flat[i]) + 0x1p-24);
    }
  }
}

TEST_CASE("a model from scratch has as many positions as it is told") {
  const TemporaryFolder folder;
  PretrainingOptions options = Options(folder, "run");
  options.model = "";
  options.steps = 1;
  options.positions = 10;
  REQUIRE(Run(options).ok());
  REQUIRE(language::ReadGpt2Folder(options.output + "/model")->config.positions == 10);
}

TEST_CASE("a folder with a run is not trampled on, nor continued with other options") {
  const TemporaryFolder folder;
  PretrainingOptions options = Options(folder, "run");
  REQUIRE(Run(options).ok());
  REQUIRE(absl::IsFailedPrecondition(Run(options)));
  options.resume = true;
  options.learning_rate = 0.5;
  const absl::Status other = Run(options);
  REQUIRE(absl::IsFailedPrecondition(other));
  REQUIRE(runtime::Message(other).find("learning_rate") != std::string::npos);
  options.learning_rate = Options(folder, "run").learning_rate;
  options.compress = "bfloat16";
  const absl::Status compressed = Run(options);
  REQUIRE(absl::IsFailedPrecondition(compressed));
  REQUIRE(runtime::Message(compressed).find("compress") != std::string::npos);
}

TEST_CASE("options and texts that do not fit are refused") {
  const TemporaryFolder folder;
  const auto refused = [&](auto change) {
    PretrainingOptions options = Options(folder, "refused");
    change(options);
    const absl::Status status = Run(options);
    INFO(runtime::Message(status));
    REQUIRE(absl::IsInvalidArgument(status));
    REQUIRE_FALSE(std::filesystem::exists(options.output + "/metrics.jsonl"));
  };
  refused([](auto& options) { options.epochs = 0; });
  refused([](auto& options) { options.batch_tokens = 0; });
  refused([](auto& options) { options.patience = 3; });
  refused([](auto& options) { options.loss = "verbs"; });
  refused([](auto& options) { options.attention = "random"; });
  refused([](auto& options) { options.schedule = "steps"; });
  refused([](auto& options) { options.warmup = 2; });
  refused([](auto& options) { options.optimiser = "magic"; });
  refused([](auto& options) { options.slice_tokens = -1; });
  refused([](auto& options) { options.lora_rank = 5000; });
  refused([](auto& options) { options.device = "tpu"; });
  refused([](auto& options) { options.weights = "float64"; });
  refused([](auto& options) { options.positions = -1; });
  refused([](auto& options) { options.evaluate_tokens = -1; });
  refused([](auto& options) { options.tokens = 5; });
  refused([](auto& options) { options.zero_stage = 4; });
  refused([](auto& options) { options.zero_stage = -1; });
  refused([](auto& options) { options.compress = "float8"; });
  refused([](auto& options) {
    options.compress = "bfloat16";
    options.zero_stage = 2;
  });
  refused([](auto& options) {
    options.compress = "bfloat16";
    options.group.ring_min_bytes = 0;
  });
  refused([](auto& options) {
    options.compress = "bfloat16";
    options.group.reduction = collectives::Reduction::kNccl;
  });
  refused([](auto& options) { options.tensor_parallel = 0; });
  refused([](auto& options) {
    options.tensor_parallel = 2;
    options.group.reduction = collectives::Reduction::kNccl;
  });
  // The model has two heads.
  refused([](auto& options) { options.tensor_parallel = 3; });
  refused([](auto& options) { options.tensor_parallel = 2; });
  refused([](auto& options) {
    options.model = "";
    options.positions = 9;
  });
  Corpus corpus;
  corpus.material.longest = 17;
  std::ostringstream out;
  REQUIRE(absl::IsInvalidArgument(
      Pretrain(Options(folder, "long"), corpus.material, Alone(), Never, out)));
  corpus.material.training.clear();
  REQUIRE(absl::IsInvalidArgument(
      Pretrain(Options(folder, "none"), corpus.material, Alone(), Never, out)));
}

TEST_CASE("the ranks of a machine share its GPUs") {
  PretrainingOptions options;
  options.local_rank = 1;
  REQUIRE(TrainerOptionsOf(options)->device == "cpu");
  options.device = "cuda";
  for (options.local_rank = 0; options.local_rank < 3; ++options.local_rank) {
    const auto share = model::FindComputeDevice("cuda", options.local_rank);
    const auto trainer = TrainerOptionsOf(options);
    REQUIRE(trainer.status() == share.status());
    if (share.ok()) {
      REQUIRE(trainer->device == share->name);
    } else {
      doubles::LeaveOutGpu(runtime::Message(share.status()));
    }
  }
}

TEST_CASE("rates leave out what was no step; what is left follows what is done") {
  const runtime::TimePoint start{};
  const auto at = [&](int seconds) { return start + std::chrono::seconds(seconds); };
  RecentRate rate;
  rate.Start(at(0), 0.5);
  REQUIRE(rate.tokens_per_second() == 0);
  rate.Add(at(2), 100, 0.6);
  rate.Skip(at(10));
  rate.Add(at(12), 300, 0.7);
  REQUIRE(rate.tokens_per_second() == Approx(100));
  REQUIRE(rate.overall() == Approx(100));
  REQUIRE(rate.seconds_left() == Approx(18));
}

}  // namespace
}  // namespace shoal::encoder
