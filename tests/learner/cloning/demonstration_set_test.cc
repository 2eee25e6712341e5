// SPDX-License-Identifier: Apache-2.0
#include "learner/cloning/demonstration_set.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "learner/cloning/cloning.h"
#include "platform/content/content_key.h"
#include "rl/collectives/gradient_reducer.h"
#include "rl/demonstrations/demonstration_file.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/rl/demonstrations/some_demonstrations.h"

namespace shoal::learner {
namespace {

constexpr std::uint64_t kSeed = 4;

model::PolicySpec Spec() {
  model::PolicySpec spec;
  spec.observation_size = 2;
  spec.content_fields = {"goal", "request"};
  spec.projection_size = 8;
  spec.hidden = {16};
  spec.value_hidden = {16};
  return spec;
}

// Records episodes whose actions are 1, 2 in the first, 0, 2 in the second, and so on.
proto::DemonstrationChunk Recording(int episodes) {
  proto::DemonstrationChunk all = demonstrations::SomeDemonstrations();
  all.clear_demonstrations();
  for (int i = 0; i < episodes; ++i) {
    *all.add_demonstrations() = demonstrations::OneOf(static_cast<std::uint64_t>(i), i % 3, 2);
  }
  return all;
}

struct Loaded {
  ContentTable contents{ContentTableOptions{}};
  std::unique_ptr<DemonstrationSet> set;
};

absl::Status Load(const proto::DemonstrationChunk& recording, const model::PolicySpec& spec,
                  std::size_t per_batch, Loaded& loaded,
                  const embedding::EncoderSource& encoder = {}) {
  const doubles::TemporaryFolder folder;
  const std::string path = folder.path() + "/expert.demos";
  REQUIRE(demonstrations::WriteDemonstrations(path, recording).ok());
  auto set = DemonstrationSet::Load({.path = path,
                                     .encoder = encoder,
                                     .embedding_cache = {},
                                     .per_batch = per_batch,
                                     .seed = kSeed},
                                    spec, loaded.contents);
  if (!set.ok()) return set.status();
  loaded.set = *std::move(set);
  return absl::OkStatus();
}

// Returns the first action of each column.
std::vector<std::int64_t> FirstActions(const algorithms::UnrollBatch& batch) {
  return {batch.action.begin(), batch.action.begin() + batch.columns};
}

// Cloning from `episodes` demonstrations, and trainers for it.
struct Copying {
  explicit Copying(int episodes) {
    CloningOptions options;
    options.demonstrations = folder.At("expert.demos");
    options.demonstration_unrolls = 4;
    options.demonstration_updates = 6;
    options.demonstration_learning_rate = 1e-2;
    options.demonstration_coefficient = 1;
    options.demonstration_anneal_updates = 2;
    REQUIRE(demonstrations::WriteDemonstrations(options.demonstrations, Recording(episodes)).ok());
    cloning = Cloning::Create(options, kSeed, Spec(), contents).value();
  }

  std::unique_ptr<algorithms::PolicyTrainer> Trainer() {
    return algorithms::PolicyTrainer::Create(Spec(), {}, kSeed, alone).value();
  }

  const doubles::TemporaryFolder folder;
  ContentTable contents{ContentTableOptions{}};
  collectives::SingleRank alone;
  std::unique_ptr<const Cloning> cloning;
};

}  // namespace

TEST_CASE("demonstrations come with embeddings of their texts, every row to be learned",
          "[demonstrations]") {
  Loaded loaded;
  const absl::Status status = Load(Recording(2), Spec(), 2, loaded);
  INFO(status);
  REQUIRE(status.ok());
  REQUIRE(loaded.set->size() == 2);
  REQUIRE(loaded.set->encoder_version().starts_with("lexical-"));
  const algorithms::UnrollBatch batch = loaded.set->Batch(0, 0, 1);
  REQUIRE(batch.Validate(Spec()).ok());
  REQUIRE(batch.columns == 2);
  REQUIRE(batch.weight == std::vector<float>{1, 1, 1, 1});
  REQUIRE(batch.tables.size() == 1);
  REQUIRE(batch.tables[0]->size() == 3);
  // The rows name only the contents "goal" and "b".
  REQUIRE(batch.embeddings.size() == 2 * 512);
}

TEST_CASE("a demonstration's bodies have the encoder of bodies, and its goals the other",
          "[demonstrations]") {
  proto::DemonstrationChunk recording = Recording(1);
  const std::string texts[] = {R"({"PowerState":"On"})", "power the machine up"};
  for (const std::string& text : texts) {
    proto::Content& content = *recording.add_contents();
    content.set_key(std::string(content::KeyOf(text).AsBytes()));
    content.set_text(text);
  }
  const embedding::EncoderSource encoder{.body_encoder = "gpt2:tiny"};
  Loaded loaded;
  REQUIRE(Load(recording, Spec(), 1, loaded, encoder).ok());
  const auto numbers = [&](const std::string& text) {
    const auto vector = loaded.contents.Find(loaded.set->encoder_version(), content::KeyOf(text));
    REQUIRE(vector != nullptr);
    return std::count_if(vector->begin() + 128, vector->end(), [](auto half) { return half != 0; });
  };
  REQUIRE(numbers(texts[0]) == 0);
  REQUIRE(numbers(texts[1]) > 0);
  model::PolicySpec spec = Spec();
  spec.body_size = 64;
  REQUIRE(runtime::Message(Load(recording, spec, 1, loaded, encoder)) ==
          "policy.body_size is 64, the encoder makes 128 numbers of a response's body");
}

TEST_CASE("pass after pass, every demonstration comes once, in another order", "[demonstrations]") {
  Loaded loaded;
  REQUIRE(Load(Recording(9), Spec(), 3, loaded).ok());
  std::vector<std::vector<std::int64_t>> passes;
  for (std::int64_t pass = 0; pass < 4; ++pass) {
    std::map<std::int64_t, int> times;
    std::vector<std::int64_t> order;
    for (std::int64_t draw = 0; draw < 3; ++draw) {
      for (const std::int64_t action : FirstActions(loaded.set->Batch(3 * pass + draw, 0, 1))) {
        ++times[action];
        order.push_back(action);
      }
    }
    REQUIRE(times == std::map<std::int64_t, int>{{0, 3}, {1, 3}, {2, 3}});
    passes.push_back(order);
  }
  REQUIRE((passes[0] != passes[1] || passes[1] != passes[2]));
}

TEST_CASE("ranks share a draw out, and together have what one alone has", "[demonstrations]") {
  Loaded loaded;
  REQUIRE(Load(Recording(7), Spec(), 5, loaded).ok());
  for (std::int64_t draw = 0; draw < 10; ++draw) {
    const auto alone = FirstActions(loaded.set->Batch(draw, 0, 1));
    const auto first = FirstActions(loaded.set->Batch(draw, 0, 2));
    const auto second = FirstActions(loaded.set->Batch(draw, 1, 2));
    REQUIRE(first == std::vector<std::int64_t>{alone[0], alone[2], alone[4]});
    REQUIRE(second == std::vector<std::int64_t>{alone[1], alone[3]});
  }
  REQUIRE(loaded.set->Batch(0, 6, 7).columns == 0);
}

TEST_CASE("a demonstration that does not fit is named with file, offset and column",
          "[demonstrations]") {
  Loaded loaded;
  proto::DemonstrationChunk beyond = Recording(3);
  *beyond.mutable_demonstrations(1) = demonstrations::OneOf(1, 3, 0);
  const std::string message(Load(beyond, Spec(), 2, loaded).message());
  INFO(message);
  REQUIRE(message.find("expert.demos: offset 32: demonstration 2, 5 pxe_once on rackmount: "
                       "action: 3 of 3") != std::string::npos);

  model::PolicySpec wide = Spec();
  wide.observation_size = 8;
  REQUIRE(Load(Recording(1), wide, 2, loaded).message().find("observation") !=
          absl::string_view::npos);
  model::PolicySpec discrete = Spec();
  discrete.head = "discrete";
  REQUIRE(absl::IsFailedPrecondition(Load(Recording(1), discrete, 2, loaded)));
  model::PolicySpec narrow = Spec();
  narrow.embedding_size = 256;
  REQUIRE(absl::IsFailedPrecondition(Load(Recording(1), narrow, 2, loaded)));
  REQUIRE(absl::IsFailedPrecondition(Load(Recording(0), Spec(), 2, loaded)));
}

TEST_CASE("without a file nothing is cloned, and a file that is not there is named", "[cloning]") {
  ContentTable contents{ContentTableOptions{}};
  CloningOptions options;
  REQUIRE(Cloning::Create(options, kSeed, Spec(), contents).value() == nullptr);
  options.demonstration_coefficient = 0.5;
  REQUIRE(Cloning::Create(options, kSeed, Spec(), contents).value() == nullptr);
  options.demonstrations = "/tmp/shoal-no-such-file.demos";
  const absl::Status missing = Cloning::Create(options, kSeed, Spec(), contents).status();
  REQUIRE(absl::IsNotFound(missing));
}

TEST_CASE("cloning that was cut off and resumed ends with the bits of cloning that was not",
          "[cloning]") {
  Copying copying(7);
  const Cloning& cloning = *copying.cloning;

  const auto whole = copying.Trainer();
  std::vector<double> losses;
  REQUIRE(cloning
              .Run(*whole, 0, 1,
                   [&](const algorithms::CloningReport& report) {
                     losses.push_back(report.loss);
                     return absl::OkStatus();
                   })
              .ok());
  REQUIRE(losses.size() == 6);
  REQUIRE(losses.back() < losses.front());

  const auto cut = copying.Trainer();
  const absl::Status ended = cloning.Run(*cut, 0, 1, [&](const auto& report) {
    if (report.cloning < 4) return absl::OkStatus();
    REQUIRE(cut->Save(copying.folder.At("checkpoints"), "").ok());
    return runtime::Cancelled("cut off");
  });
  REQUIRE(absl::IsCancelled(ended));
  const auto resumed = copying.Trainer();
  REQUIRE(resumed->Load(copying.folder.At("checkpoints")).ok());
  REQUIRE(resumed->clonings() == 4);
  REQUIRE(cloning.Run(*resumed, 0, 1, [](const auto&) { return absl::OkStatus(); }).ok());
  REQUIRE(resumed->Digest() == whole->Digest());
}

TEST_CASE("after the phase the demonstrations' weight falls to nothing", "[cloning]") {
  Copying copying(7);
  const Cloning& cloning = *copying.cloning;
  const auto trainer = copying.Trainer();
  const algorithms::UnrollBatch batch = cloning.demonstrations().Batch(0, 0, 1);
  std::vector<double> coefficients;
  for (int i = 0; i < 3; ++i) {
    const auto report = cloning.Update(*trainer, batch, 0, 1);
    INFO(report.status());
    REQUIRE(report.ok());
    coefficients.push_back(report->cloning_coefficient);
  }
  REQUIRE(coefficients == std::vector<double>{1, 0.5, 0});
  // Once the trainer has done an update, nothing is cloned again.
  REQUIRE(
      cloning.Run(*trainer, 0, 1, [](const auto&) { return runtime::Internal("cloned"); }).ok());
}

TEST_CASE("unrolls of another encoder than the demonstrations' are refused", "[cloning]") {
  const Copying copying(1);
  const Cloning& cloning = *copying.cloning;
  std::vector<DecodedUnroll> unrolls(1);
  unrolls[0].encoder_version = cloning.demonstrations().encoder_version();
  REQUIRE(cloning.CheckEncoder(unrolls).ok());
  unrolls[0].encoder_version = "lexical-other";
  const absl::Status refused = cloning.CheckEncoder(unrolls);
  REQUIRE(absl::IsFailedPrecondition(refused));
  REQUIRE(refused.message().find("learner.encoder") != absl::string_view::npos);
}

}  // namespace shoal::learner
