// SPDX-License-Identifier: Apache-2.0
#include "encoder/state_training.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "encoder/state_views.h"
#include "platform/runtime/atomic_file.h"
#include "platform/runtime/random.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/text/embedding/small_encoder.h"
#include "text/embedding/make_text_encoder.h"
#include "text/language/state_folder.h"

namespace shoal::encoder {
namespace {

using doubles::TemporaryFolder;
using nlohmann::json;

CaptureBodies SomeBodies(const std::string& name, std::uint64_t seed) {
  runtime::Random random(seed);
  CaptureBodies capture{name, name + "'s digest", {}};
  for (int i = 0; i < 12; ++i) {
    const std::string type = i % 2 == 0 ? "#System" : "#Manager";
    capture.bodies.push_back({{"@odata.type", type + ".v1_0_0." + type.substr(1)},
                              {"Name", name + " " + std::to_string(i)},
                              {"AssetTag", random.Below(2) == 0 ? "reset" : "set"},
                              {"Enabled", random.Below(2) == 0},
                              {"Tags", {{{"Slot", random.Below(3)}}}}});
  }
  return capture;
}

std::vector<CaptureBodies> Captures() { return {SomeBodies("lab", 1), SomeBodies("rack", 2)}; }

StateTrainingOptions Options(const TemporaryFolder& folder, const std::string& name) {
  if (!std::filesystem::exists(folder.At("base"))) embedding::WriteSmallModel(folder.At("base"));
  StateTrainingOptions options;
  options.output = folder.At(name);
  options.base = "gpt2:" + folder.At("base");
  options.latent = 6;
  options.channels = 8;
  options.kernel = 3;
  options.steps = 6;
  options.bodies = 4;
  options.evaluate_every = 3;
  options.evaluate_batches = 1;
  options.checkpoint_every = 2;
  return options;
}

bool Never() { return false; }

absl::Status Train(const StateTrainingOptions& options, std::string* printed = nullptr,
                   const std::function<bool()>& stop = Never) {
  const auto base = embedding::MakeLanguageStates({}, options.base, options.layer).value();
  std::ostringstream out;
  const absl::Status status = TrainState(options, Captures(), *base, stop, out);
  if (printed != nullptr) *printed = out.str();
  return status;
}

std::vector<json> Rows(const std::string& run) {
  std::vector<json> rows;
  std::istringstream lines(runtime::ReadFile(run + "/metrics.jsonl").value());
  for (std::string line; std::getline(lines, line);) {
    rows.push_back(json::parse(line));
    rows.back().erase("tokens_per_second");
  }
  return rows;
}

std::string Weights(const std::string& run) {
  return runtime::ReadFile(run + "/model/model.safetensors").value();
}

TEST_CASE("a run writes a state encoder that the knob of encoders names, and its figures") {
  const TemporaryFolder folder;
  StateTrainingOptions options = Options(folder, "run");
  options.hold_out = {"rack"};
  std::string printed;
  REQUIRE(Train(options, &printed).ok());
  REQUIRE(printed.starts_with("steps=6 loss="));
  REQUIRE(printed.find(" held_out_accuracy=") != std::string::npos);
  const auto encoder =
      embedding::MakeTextEncoder({.body_encoder = "state:" + options.output + "/model"}, {}, {});
  INFO(encoder.status().ToString());
  REQUIRE(encoder.ok());
  REQUIRE((*encoder)->body_dimension() == 6);
  const std::vector<json> rows = Rows(options.output);
  REQUIRE(rows.size() == 8);
  REQUIRE(rows[3].contains("held_out_contrast"));
  REQUIRE(rows[7].contains("held_out_contrast"));
  for (const char* key : {"loss", "reconstruction", "contrast", "accuracy", "learning_rate"}) {
    REQUIRE(rows[0].at(key).is_number());
  }
}

TEST_CASE("equal seeds give equal bits, and a stopped run goes on to the same bits") {
  const TemporaryFolder folder;
  REQUIRE(Train(Options(folder, "whole")).ok());
  REQUIRE(Train(Options(folder, "again")).ok());
  REQUIRE(Weights(folder.At("whole")) == Weights(folder.At("again")));
  StateTrainingOptions other = Options(folder, "other");
  other.seed = 2;
  REQUIRE(Train(other).ok());
  REQUIRE(Weights(folder.At("whole")) != Weights(folder.At("other")));
  StateTrainingOptions cut = Options(folder, "cut");
  int steps = 3;
  std::string printed;
  REQUIRE(Train(cut, &printed, [&] { return steps-- <= 0; }).ok());
  REQUIRE(printed.find("with --resume") != std::string::npos);
  cut.resume = true;
  REQUIRE(Train(cut).ok());
  REQUIRE(Weights(folder.At("whole")) == Weights(folder.At("cut")));
  REQUIRE(Rows(folder.At("whole")) == Rows(folder.At("cut")));
  REQUIRE(Train(cut, &printed).ok());
  REQUIRE(printed.starts_with("steps=6 model="));
  REQUIRE(Rows(folder.At("whole")) == Rows(folder.At("cut")));
}

TEST_CASE("a folder with a run is refused without --resume, and with other options") {
  const TemporaryFolder folder;
  StateTrainingOptions options = Options(folder, "run");
  REQUIRE(Train(options).ok());
  const auto error = [&] {
    const absl::Status status = Train(options);
    REQUIRE(absl::IsFailedPrecondition(status));
    return runtime::Message(status);
  };
  REQUIRE(error() == options.output + " holds a run; --resume continues it");
  options.resume = true;
  options.temperature = 0.2;
  REQUIRE(error() == options.output +
                         " holds a run with another options/temperature; choose another --output");
}

TEST_CASE("options and captures that do not fit are refused by name") {
  const TemporaryFolder folder;
  const auto error = [&](const auto& spoil) {
    StateTrainingOptions options = Options(folder, "run");
    spoil(options);
    return runtime::Message(Train(options));
  };
  REQUIRE(error([](auto& options) { options.hold_out = {"shelf"}; }) ==
          "--hold-out shelf is none of --captures");
  REQUIRE(error([](auto& options) {
            options.hold_out = {"lab", "rack"};
          }) == "there is no body to train on");
  REQUIRE(error([](auto& options) { options.steps = 0; }).starts_with("--steps 0 is not from 1"));
  REQUIRE(error([](auto& options) { options.left_out = 1; }) ==
          "--left-out is not from 0 to below 1");
  REQUIRE(error([](auto& options) { options.kernel = 4; }) == "/kernel is 4, which is not odd");
  REQUIRE(error([](auto& options) { options.output = ""; }) == "--output is empty");
  StateTrainingOptions options = Options(folder, "run");
  options.captures = {"no-such-capture"};
  std::ostringstream out;
  REQUIRE(absl::IsNotFound(TrainStateOnCaptures(options, out)));
}

TEST_CASE("each body of a batch stands in two states, whose views hold the changed value") {
  const CaptureBodies capture = SomeBodies("lab", 1);
  std::vector<const json*> bodies;
  for (const json& body : capture.bodies) bodies.push_back(&body);
  const StateViewSource source(bodies, {.bodies = 4, .of_one_type = 2, .left_out = 0.5}, 1);
  const StateViews views = source.Draw("training", 3);
  REQUIRE(views.ends.size() == 16);
  REQUIRE(std::set<std::string>(views.segments.begin(), views.segments.end()).size() ==
          views.segments.size());
  // The bodies are shorter than a segment, so a view is one.
  const auto text = [&](std::size_t view) {
    return json::parse(views.segments[static_cast<std::size_t>(views.uses[view].segment)]);
  };
  for (std::size_t i = 0; i < 16; ++i) {
    REQUIRE(views.partners[i] == static_cast<std::int64_t>(i ^ 1));
  }
  for (std::size_t i = 0; i < 16; i += 4) {
    // The property that differs between both states is in all four views.
    std::size_t differing = 0;
    const json flat = text(i).flatten();
    for (const auto& leaf : flat.items()) {
      const json::json_pointer at(leaf.key());
      const auto holds = [&](std::size_t view) { return text(view).contains(at); };
      if (!holds(i + 1) || !holds(i + 2) || !holds(i + 3)) continue;
      REQUIRE(text(i)[at] == text(i + 1)[at]);
      REQUIRE(text(i + 2)[at] == text(i + 3)[at]);
      if (text(i)[at] != text(i + 2)[at]) ++differing;
    }
    REQUIRE(differing == 1);
    // What one view lacks, the same view of the other state lacks.
    for (const std::size_t view : {i, i + 1}) {
      const json difference = json::diff(text(view), text(view + 2));
      REQUIRE(difference.size() == 1);
      REQUIRE(difference[0]["op"] == "replace");
    }
    // Neighbours have one type.
    if (i % 8 == 0) REQUIRE(text(i)["@odata.type"] == text(i + 4)["@odata.type"]);
  }
  const StateViews again = source.Draw("training", 3);
  REQUIRE(again.segments == views.segments);
  REQUIRE(source.Draw("training", 4).segments != views.segments);
  REQUIRE(source.Draw("evaluation", 3).segments != views.segments);
  REQUIRE_FALSE(source.SomeSegments(5).empty());
}

}  // namespace
}  // namespace shoal::encoder
