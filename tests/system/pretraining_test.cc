// SPDX-License-Identifier: Apache-2.0
// Tests `encoder train` as a person starts and ends it.
#include <signal.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/cluster/child_process.h"
#include "platform/runtime/atomic_file.h"
#include "shoal_run.h"
#include "tests/doubles/ranks.h"
#include "tests/doubles/temporary_folder.h"
#include "text/language/gpt2_folder.h"

namespace shoal::tests {
namespace {

using std::chrono::seconds;

constexpr const char* kEncoder = SHOAL_PROGRAMS "/encoder";
constexpr const char* kCapture = "data/captures/dmtf-catfish.tar.xz";

std::string RunEncoder(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), kEncoder);
  const auto output = cli::RunToEnd(arguments);
  INFO(runtime::Message(output.status()));
  REQUIRE(output.ok());
  return *output;
}

// Writes a dataset of a small capture with a small vocabulary.
std::string Dataset(const std::string& folder) {
  const std::string tokenizer = folder + "/tokenizer.json";
  RunEncoder({"tokenizer", "train", "--captures", kCapture, "--vocabulary-size", "400", "--output",
              tokenizer});
  RunEncoder({"dataset", "build", "--captures", kCapture, "--tokenizer", tokenizer, "--output",
              folder + "/dataset", "--chunk-tokens", "128", "--overlap", "16"});
  return folder + "/dataset";
}

std::vector<std::int64_t> StepsOf(const std::string& run) {
  std::vector<std::int64_t> steps;
  std::istringstream lines(runtime::ReadFile(run + "/metrics.jsonl").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    const auto row = nlohmann::json::parse(line, nullptr, false);
    if (row.is_object()) steps.push_back(row.at("step").get<std::int64_t>());
  }
  return steps;
}

// Starts a run without end, asks it to stop `more` steps after `from`, and returns its output.
std::string RunAndStop(std::vector<std::string> command, const std::string& run, std::size_t from,
                       std::size_t more) {
  const std::string log = run + ".log";
  auto process = cli::ChildProcess::Start({.name = "encoder", .command = command, .log_path = log});
  REQUIRE(process.ok());
  const bool learns = Eventually(seconds(60), [&] {
    return StepsOf(run).size() >= from + more || (*process)->Poll().has_value();
  });
  (*process)->RequestStop();
  std::optional<cli::ExitState> exit;
  const bool ended = Eventually(seconds(30), [&] {
    exit = (*process)->Poll();
    return exit.has_value();
  });
  const std::string said = runtime::ReadFile(log).value_or("");
  INFO(said);
  REQUIRE(learns);
  REQUIRE(ended);
  REQUIRE(exit->code == 0);
  return said;
}

}  // namespace

TEST_CASE("a run that is ended by a signal saves its last step, and goes on after it",
          "[pretraining]") {
  const doubles::TemporaryFolder folder;
  const std::string dataset = Dataset(folder.path());
  for (const char* ranks : {"1", "2"}) {
    const std::string run = folder.path() + "/run" + ranks;
    const std::vector<std::string> command = {kEncoder,    "train",
                                              "--dataset", dataset,
                                              "--output",  run,
                                              "--steps",   "100000",
                                              "--resume",  "--threads",
                                              "1",         "--world-size",
                                              ranks,       "--batch-tokens",
                                              "256",       "--checkpoint-every",
                                              "100000"};
    for (std::size_t turn = 0; turn < 2; ++turn) {
      const std::size_t before = StepsOf(run).size();
      const std::string said = RunAndStop(command, run, before, 3);
      INFO(said);
      const auto steps = StepsOf(run);
      REQUIRE(steps.size() >= before + 3);
      const std::string last = "stopped after step " + std::to_string(steps.back()) +
                               "; with --resume the same command goes on from there\n";
      REQUIRE(said.ends_with(last));
      for (std::size_t i = 0; i < steps.size(); ++i) {
        REQUIRE(steps[i] == static_cast<std::int64_t>(i) + 1);
      }
    }
  }
}

TEST_CASE("two ranks end with the same bits whether gradients go over rank 0 or around a ring",
          "[pretraining]") {
  const doubles::TemporaryFolder folder;
  const std::string dataset = Dataset(folder.path());
  std::vector<std::string> models;
  for (const char* ring_min_bytes : {"0", "1"}) {
    const std::string run = folder.path() + "/from" + ring_min_bytes;
    RunEncoder({"train", "--dataset", dataset, "--output", run, "--steps", "3", "--threads", "1",
                "--world-size", "2", "--batch-tokens", "256", "--ring-min-bytes", ring_min_bytes});
    models.push_back(runtime::ReadFile(run + "/model/model.safetensors").value());
  }
  REQUIRE(models[0] == models[1]);
}

TEST_CASE("two ranks that compress their gradients end near the loss of two that do not",
          "[pretraining]") {
  const doubles::TemporaryFolder folder;
  const std::string dataset = Dataset(folder.path());
  std::vector<double> losses;
  for (const char* compression : {"none", "bfloat16"}) {
    const std::string run = folder.path() + "/" + compression;
    RunEncoder({"train", "--dataset", dataset, "--output", run, "--steps", "10", "--threads", "1",
                "--world-size", "2", "--batch-tokens", "512", "--compress", compression});
    const std::string metrics = runtime::ReadFile(run + "/metrics.jsonl").value();
    const std::size_t last = metrics.rfind('\n', metrics.size() - 2);
    losses.push_back(nlohmann::json::parse(metrics.substr(last + 1)).at("loss").get<double>());
  }
  REQUIRE(losses[0] != losses[1]);
  REQUIRE(losses[1] == Approx(losses[0]).epsilon(0.01));
}

TEST_CASE("ranks that divide moments and gradients end with the bits of ranks that do not",
          "[pretraining]") {
  const doubles::TemporaryFolder folder;
  const std::string dataset = Dataset(folder.path());
  std::vector<std::string> models;
  for (const char* stage : {"0", "1", "2"}) {
    const std::string run = folder.path() + "/stage" + stage;
    RunEncoder({"train", "--dataset", dataset, "--output", run, "--steps", "3", "--threads", "1",
                "--world-size", "3", "--batch-tokens", "256", "--zero-stage", stage});
    models.push_back(runtime::ReadFile(run + "/model/model.safetensors").value());
  }
  REQUIRE(models[1] == models[0]);
  REQUIRE(models[2] == models[0]);
}

TEST_CASE("ranks that divide the model by tensor parallelism leave the model of one process, whole",
          "[pretraining]") {
  const doubles::TemporaryFolder folder;
  const std::string dataset = Dataset(folder.path());
  std::vector<language::Gpt2Parameters> models;
  for (const auto& [ranks, tensor] : {std::pair("1", "1"), {"2", "2"}, {"4", "2"}}) {
    const std::string run = folder.path() + "/" + ranks + "-" + tensor;
    RunEncoder({"train", "--dataset", dataset, "--output", run, "--steps", "10", "--threads", "1",
                "--world-size", ranks, "--tensor-parallel", tensor, "--batch-tokens", "512",
                "--positions", "128", "--optimiser", "sgd"});
    models.push_back(language::ReadGpt2Folder(run + "/model").value());
  }
  for (std::size_t i = 1; i < models.size(); ++i) {
    REQUIRE(models[i].config == models[0].config);
    for (std::size_t at = 0; at < models[0].flat.size(); ++at) {
      if (std::abs(models[i].flat[at] - models[0].flat[at]) > 1e-5F) {
        FAIL("model " << i << " differs at " << at);
      }
    }
  }
}

TEST_CASE("the memory of a training rank is told by its stage, before anything has started",
          "[pretraining]") {
  const doubles::TemporaryFolder folder;
  const std::string dataset = Dataset(folder.path());
  const auto planned = [&](const char* stage) {
    return nlohmann::json::parse(
        RunEncoder({"train", "--dataset", dataset, "--output", folder.path() + "/run", "--preset",
                    "xl", "--zero-stage", stage, "--plan-memory", "4", "--plan-json"}));
  };
  const auto whole = planned("0");
  const auto parameters = whole.at("parameters").get<std::int64_t>();
  REQUIRE(parameters > 1'000'000'000);
  REQUIRE(whole.at("moment_bytes") == 8 * parameters);
  REQUIRE(planned("1").at("moment_bytes") == 8 * ((parameters + 3) / 4));
  REQUIRE(planned("1").at("kept_gradient_bytes") == 4 * parameters);
  REQUIRE(planned("2").at("kept_gradient_bytes") == 4 * ((parameters + 3) / 4));
  REQUIRE(planned("2").at("gradient_bytes") == 4 * parameters);
  // A table needs no dataset, and says what fits.
  const std::string table =
      RunEncoder({"train", "--preset", "xl", "--zero-stage", "3", "--plan-memory", "4",
                  "--device-memory", "16", "--threads", "1"});
  REQUIRE(table.find("--zero-stage 3 fits: ") != std::string::npos);
}

TEST_CASE("a run without its folders is refused, and so are flags of a plan without one",
          "[pretraining]") {
  const auto refusal = [](std::vector<std::string> flags) {
    flags.insert(flags.begin(), {kEncoder, "train"});
    return runtime::Message(cli::RunToEnd(flags).status());
  };
  REQUIRE(refusal({"--output", "run"}).find("--dataset is missing") != std::string::npos);
  REQUIRE(refusal({"--dataset", "data"}).find("--output is missing") != std::string::npos);
  REQUIRE(refusal({"--device-memory", "16"}).find("requires --plan-memory") != std::string::npos);
  REQUIRE(refusal({"--plan-json"}).find("requires --plan-memory") != std::string::npos);
}

TEST_CASE("what cannot carry gradients between ranks is refused", "[pretraining]") {
  const doubles::TemporaryFolder folder;
  const std::string dataset = Dataset(folder.path());
  const auto refusal = [&](const std::vector<std::string>& flags) {
    std::vector<std::string> command = {kEncoder,       "train",    "--dataset",
                                        dataset,        "--output", folder.path() + "/run",
                                        "--world-size", "2"};
    command.insert(command.end(), flags.begin(), flags.end());
    return runtime::Message(cli::RunToEnd(command).status());
  };
  REQUIRE(refusal({"--reduction", "pigeons"}).find("--reduction") != std::string::npos);
  REQUIRE(refusal({"--zero-stage", "4"}).find("--zero-stage") != std::string::npos);
  REQUIRE(refusal({"--compress", "float8"}).find("--compress") != std::string::npos);
  REQUIRE(refusal({"--compress", "bfloat16", "--zero-stage", "2"}).find("needs --zero-stage") !=
          std::string::npos);
  REQUIRE(refusal({"--tensor-parallel", "0"}).find("--tensor-parallel") != std::string::npos);
  // GPT-2 tiny has four heads.
  REQUIRE(refusal({"--tensor-parallel", "3"})
              .find("tensor parallelism of 3 ranks does not divide the model's 4 heads evenly") !=
          std::string::npos);
  // Nothing of the model's size is made before that.
  REQUIRE(refusal({"--tensor-parallel", "2", "--preset", "xl"})
              .find("tensor parallelism of 2 ranks does not divide the model's 25 heads evenly") !=
          std::string::npos);
  REQUIRE(refusal({"--tensor-parallel", "4"}).find("but there are 2") != std::string::npos);
  REQUIRE(refusal({"--tensor-parallel", "4", "--plan-memory", "6"}).find("but there are 6") !=
          std::string::npos);
  REQUIRE(refusal({"--ring-min-bytes", "-1"}).find("--ring-min-bytes") != std::string::npos);
#ifndef SHOAL_CUDA
  REQUIRE(refusal({"--reduction", "nccl"}).find("SHOAL_CUDA") != std::string::npos);
#endif
}

TEST_CASE("when one of two ranks is killed all start again, and go on from the checkpoint",
          "[pretraining]") {
  const doubles::TemporaryFolder folder;
  const std::string dataset = Dataset(folder.path());
  for (const char* const tensor : {"1", "2"}) {
    const std::string run = folder.path() + "/run" + tensor;
    auto process = cli::ChildProcess::Start(
        {.name = "encoder",
         .command = {kEncoder, "train", "--dataset", dataset, "--output", run, "--steps", "100000",
                     "--threads", "1", "--world-size", "2", "--tensor-parallel", tensor,
                     "--batch-tokens", "256", "--checkpoint-every", "1"},
         .log_path = run + ".log"});
    REQUIRE(process.ok());
    REQUIRE(Eventually(seconds(60), [&] { return StepsOf(run).size() >= 3; }));
    const std::string supervisor = std::to_string((*process)->pid());
    std::istringstream children(
        runtime::ReadFile("/proc/" + supervisor + "/task/" + supervisor + "/children")
            .value_or(""));
    pid_t first = 0;
    pid_t second = 0;
    REQUIRE(children >> first >> second);
    REQUIRE(::kill(second, SIGKILL) == 0);
    const auto said = [&] { return runtime::ReadFile(run + ".log").value_or(""); };
    const bool restarted = Eventually(
        seconds(10), [&] { return said().find("event=group_restarts") != std::string::npos; });
    INFO(said());
    REQUIRE(restarted);
    const std::size_t before = StepsOf(run).size();
    REQUIRE(Eventually(seconds(60), [&] { return StepsOf(run).size() >= before + 3; }));
    (*process)->RequestStop();
    REQUIRE(Eventually(seconds(30), [&] { return (*process)->Poll().has_value(); }));
    REQUIRE((*process)->Poll()->code == 0);
    const auto steps = StepsOf(run);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      REQUIRE(steps[i] == static_cast<std::int64_t>(i) + 1);
    }
  }
}

TEST_CASE("a node among others that come and go trains a language model", "[pretraining]") {
  const doubles::TemporaryFolder folder;
  const std::string dataset = Dataset(folder.path());
  const std::string run = folder.path() + "/run";
  const std::uint16_t port = doubles::FreePort();
  std::vector<std::string> command = {kEncoder,         "train",
                                      "--dataset",      dataset,
                                      "--output",       run,
                                      "--steps",        "3",
                                      "--threads",      "1",
                                      "--nodes",        "1:1",
                                      "--rendezvous",   "127.0.0.1:" + std::to_string(port),
                                      "--node-name",    "alone",
                                      "--world-size",   "2",
                                      "--batch-tokens", "256"};
  const absl::Status refused = cli::RunToEnd(command).status();
  REQUIRE(runtime::Message(refused).find("--nodes needs --resume") != std::string::npos);
  command.push_back("--resume");
  const auto ended = cli::RunToEnd(command);
  INFO(runtime::Message(ended.status()));
  REQUIRE(ended.ok());
  REQUIRE(StepsOf(run) == std::vector<std::int64_t>{1, 2, 3});
}

}  // namespace shoal::tests
