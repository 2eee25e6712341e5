// SPDX-License-Identifier: Apache-2.0
#include "encoder/tuning.h"

#include <catch2/catch.hpp>
#include <sstream>

#include "encoder/evaluate_command.h"
#include "platform/runtime/atomic_file.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/encoder/printed.h"
#include "text/embedding/adapter.h"

namespace shoal::encoder {
namespace {

using doubles::TemporaryFolder;

// On the lexical encoder, which needs no model.
TuningOptions Small(const std::string& output) {
  TuningOptions options;
  options.source.encoder = "lexical";
  options.captures = {"dmtf-mpf", "dmtf-telemetry", "dmtf-catfish"};
  options.hold_out = {"dmtf-catfish"};
  options.variants = 1;
  options.episodes = 6;
  options.trainer.size = 128;
  options.trainer.steps = 60;
  options.trainer.negatives = 128;
  options.output = output;
  return options;
}

absl::Status TuneQuietly(const TuningOptions& options, std::string* last = nullptr) {
  std::ostringstream out;
  const absl::Status status = Tune(options, out);
  INFO(status.ToString());
  if (status.ok() && last != nullptr) *last = LastLine(out);
  return status;
}

// Returns the MRR on catfish with the phrasings of the evaluation.
double RankOnCatfish(const std::string& encoder) {
  EvaluateOptions options;
  options.source.encoder = encoder;
  options.captures = {"dmtf-catfish"};
  options.episodes = 4;
  std::ostringstream out;
  REQUIRE(Evaluate(options, out).ok());
  const std::string last = LastLine(out);
  return std::stod(last.substr(last.find("mrr=") + 4));
}

TEST_CASE("an adapter finds requests on a capture and by phrasings that it has not seen") {
  const TemporaryFolder folder;
  std::string last;
  REQUIRE(TuneQuietly(Small(folder.At("adapter")), &last).ok());
  REQUIRE(last.starts_with("result output="));
  REQUIRE(Contains(last, " captures=2 sets=4 "));
  REQUIRE(RankOnCatfish("tuned:" + folder.At("adapter")) > RankOnCatfish("lexical") + 0.15);
  const auto adapter = embedding::ReadAdapter(folder.At("adapter")).value();
  REQUIRE(adapter.captures == std::vector<std::string>{"dmtf-mpf", "dmtf-telemetry"});
  REQUIRE(adapter.base == "lexical");
}

TEST_CASE("the same seed gives the same files") {
  const TemporaryFolder folder;
  TuningOptions options = Small(folder.At("first"));
  options.trainer.steps = 10;
  REQUIRE(TuneQuietly(options).ok());
  options.output = folder.At("second");
  REQUIRE(TuneQuietly(options).ok());
  const auto bytes = [&](const std::string& name, const char* file) {
    return runtime::ReadFile(folder.At(name) + "/" + file).value();
  };
  for (const char* file : {embedding::kAdapterFile, embedding::kAdapterTable}) {
    REQUIRE(bytes("first", file) == bytes("second", file));
  }
}

TEST_CASE("a held-out capture leaves its variants out too, and must be one of the captures") {
  TuningOptions options = Small("unused");
  options.captures = {"dmtf-mpf", "dmtf-mpf~3", "data/captures/dmtf-mpf.tar.xz", "dmtf-catfish"};
  options.hold_out = {"dmtf-mpf"};
  REQUIRE(CapturesToTuneOn(options).value() == std::vector<std::string>{"dmtf-catfish"});
  options.hold_out = {"dell-r750"};
  REQUIRE(absl::IsInvalidArgument(CapturesToTuneOn(options).status()));
  options.hold_out = {"dmtf-mpf", "dmtf-catfish"};
  REQUIRE(absl::IsInvalidArgument(CapturesToTuneOn(options).status()));
  // Without names these are all that ship.
  options.captures = {};
  REQUIRE(CapturesToTuneOn(options).value().size() >= 8);
  options.data = "no/such/folder";
  REQUIRE(absl::IsNotFound(CapturesToTuneOn(options).status()));
}

TEST_CASE("options that make no sense are refused before anything is written") {
  const TemporaryFolder folder;
  const auto refuses = [&](const std::function<void(TuningOptions&)>& spoil) {
    TuningOptions options = Small(folder.At("never"));
    spoil(options);
    REQUIRE(absl::IsInvalidArgument(TuneQuietly(options)));
    REQUIRE(absl::IsNotFound(runtime::ReadFile(folder.At("never/lexical.idf")).status()));
  };
  refuses([](TuningOptions& options) { options.source.encoder = "gpt2:tiny"; });
  refuses([](TuningOptions& options) { options.output = ""; });
  refuses([](TuningOptions& options) { options.episodes = 0; });
  refuses([](TuningOptions& options) { options.variants = -1; });
  refuses([](TuningOptions& options) { options.base_share = 1.5; });
  refuses([](TuningOptions& options) { options.trainer.size = 0; });
}

TEST_CASE(
    "an evaluation of held-out captures compares encoders on both kinds of sentences and leaves "
    "the adapters") {
  const TemporaryFolder folder;
  EvaluateOptions options;
  options.captures = {"dmtf-mpf", "dmtf-telemetry", "dmtf-catfish"};
  options.episodes = 3;
  options.held_out.held_out = {"dmtf-catfish"};
  options.held_out.seeds = 2;
  options.held_out.work = folder.path();
  options.held_out.tuning = Small("");
  options.held_out.tuning.hold_out = {};
  options.phrasings = folder.At("own.toml");
  REQUIRE(runtime::WriteFileAtomically(options.phrasings,
                                       "power_on = [\"Turn on the power of the system.\"]\n")
              .ok());
  std::ostringstream out;
  const absl::Status status = Evaluate(options, out);
  INFO(status.ToString());
  REQUIRE(status.ok());
  const std::string last = LastLine(out);
  REQUIRE(last.starts_with("result held_out=dmtf-catfish seeds=2 evaluation_lexical_top1="));
  const auto value = [&](const std::string& key) {
    return std::stod(last.substr(last.find(" " + key + "=") + key.size() + 2));
  };
  REQUIRE(value("evaluation_tuned_mrr") > value("evaluation_lexical_mrr"));
  REQUIRE(value("evaluation_tuned_top5") >= value("evaluation_tuned_top1"));
  REQUIRE(value("own_words_tuned_mrr") > 0.3);
  REQUIRE_FALSE(Contains(last, "said_"));
  const auto adapter = embedding::ReadAdapter(folder.At("dmtf-catfish-2")).value();
  REQUIRE(adapter.captures == std::vector<std::string>{"dmtf-mpf", "dmtf-telemetry"});
}

}  // namespace
}  // namespace shoal::encoder
