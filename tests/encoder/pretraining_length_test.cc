// SPDX-License-Identifier: Apache-2.0
// How long a run lasts, and how much of the held-out captures is measured.
#include <catch2/catch.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "rl/training/checkpoint.h"
#include "tests/doubles/ranks.h"
#include "tests/encoder/small_run.h"

namespace shoal::encoder {
namespace {

using doubles::TemporaryFolder;

TEST_CASE("a run that is asked to stop saves, says how to go on, and ends with the same bits") {
  const TemporaryFolder folder;
  const PretrainingOptions whole = Options(folder, "whole");
  REQUIRE(Run(whole).ok());
  PretrainingOptions options = Options(folder, "run");
  options.resume = true;
  std::string said;
  // The run stops between two checkpoints, at a checkpoint, and at once.
  for (const int steps : {3, 2, 0, 4}) {
    REQUIRE(Run(options, &said, After(steps)).ok());
    REQUIRE(said.ends_with("with --resume the same command goes on from there\n"));
  }
  REQUIRE(said.find("stopped after step 9;") != std::string::npos);
  REQUIRE(Rows(options.output).back()["step"] == 9);
  REQUIRE(Run(options, &said).ok());
  REQUIRE(said.find("stopped") == std::string::npos);
  REQUIRE(Rows(options.output) == Rows(whole.output));
  REQUIRE(Bytes(options.output + "/model/model.safetensors") ==
          Bytes(whole.output + "/model/model.safetensors"));
}

TEST_CASE("ranks stop at the same step, whichever of them is asked") {
  const TemporaryFolder folder;
  const Corpus corpus;
  for (const std::size_t asked : {0U, 1U}) {
    const PretrainingOptions options = Options(folder, "asked" + std::to_string(asked));
    std::vector<std::string> said(2);
    doubles::RunRanks(2, [&](std::size_t rank, collectives::GradientReducer& reducer) {
      std::ostringstream out;
      const absl::Status end =
          Pretrain(options, corpus.material, reducer, rank == asked ? After(4) : Never, out);
      said[rank] = out.str();
      return end;
    });
    REQUIRE(said[0].find("stopped after step 4;") != std::string::npos);
    REQUIRE(said[1].empty());
    REQUIRE(training::ReadNewestCheckpoint(options.output + "/checkpoints")->number == 4);
  }
}

TEST_CASE("a run by tokens ends with the text that makes them full, however large its batches") {
  const TemporaryFolder folder;
  for (const std::int64_t batch : {16, 40, 1000}) {
    PretrainingOptions options = Options(folder, "run" + std::to_string(batch));
    options.steps = 0;
    options.tokens = 500;
    options.batch_tokens = batch;
    REQUIRE(Run(options).ok());
    const auto rows = Rows(options.output);
    const auto last = std::find_if(rows.rbegin(), rows.rend(),
                                   [](const auto& row) { return row.contains("tokens"); });
    REQUIRE(last->at("tokens") >= 500);
    REQUIRE(last->at("tokens") < 510);
    REQUIRE(last->at("learning_rate").get<double>() < 0.5 * options.learning_rate);
  }
}

TEST_CASE("a run by tokens that was stopped goes on with the same curve") {
  const TemporaryFolder folder;
  PretrainingOptions options = Options(folder, "whole");
  options.steps = 0;
  options.tokens = 300;
  REQUIRE(Run(options).ok());
  const auto rows = Rows(options.output);
  options.output = folder.path() + "/stopped";
  REQUIRE(Run(options, nullptr, After(3)).ok());
  options.resume = true;
  REQUIRE(Run(options).ok());
  REQUIRE(Rows(options.output) == rows);
}

TEST_CASE("of what is held out every n-th text is measured, so that few tokens are") {
  const TemporaryFolder folder;
  const auto targets = [&](std::int64_t tokens) {
    PretrainingOptions options = Options(folder, "run" + std::to_string(tokens));
    options.evaluate_tokens = tokens;
    REQUIRE(Run(options).ok());
    return Rows(options.output).back()["held_out_targets"].get<std::int64_t>();
  };
  const Corpus corpus;
  const auto size = [&](std::size_t i) {
    return static_cast<std::int64_t>(corpus.material.held_out[i].tokens.size());
  };
  const std::int64_t all = size(0) + size(1) + size(2) + size(3);
  REQUIRE(targets(0) == all - 4);
  REQUIRE(targets(all) == all - 4);
  REQUIRE(targets(all - 1) == size(0) + size(2) - 2);
  REQUIRE(targets(1) == size(0) - 1);
}

}  // namespace
}  // namespace shoal::encoder
