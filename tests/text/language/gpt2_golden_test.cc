// SPDX-License-Identifier: Apache-2.0
// Compares with transformers: golden/make_golden.py wrote the model and the values.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <string>

#include "rl/model/safetensors_file.h"
#include "text/language/gpt2.h"

namespace shoal::language {
namespace {

constexpr char kFolder[] = "tests/text/language/golden/gpt2";
constexpr char kValues[] = "tests/text/language/golden/values.safetensors";
constexpr double kTolerance = 1e-4;

class Golden {
 public:
  Golden() : file_(model::SafetensorsFile::Open(kValues).value()) {}

  std::vector<float> Floats(const std::string& name) const {
    const auto& shape = file_.view().Find(name)->shape;
    return file_.view().Floats(name, shape).value();
  }
  std::vector<std::int64_t> Integers(const std::string& name) const {
    const auto bytes = file_.view().Find(name)->bytes;
    std::vector<std::int64_t> values(bytes.size() / 8);
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  TokenBatch Batch() const {
    const auto ids = Integers("ids");
    TokenBatch batch;
    batch.ids.assign(ids.begin(), ids.end());
    batch.starts = Integers("starts");
    return batch;
  }

 private:
  const model::SafetensorsFile file_;
};

void RequireEqual(const runtime::Tensor& ours, const std::vector<float>& theirs) {
  const auto values = ours.values<float>();
  REQUIRE(values.size() == theirs.size());
  double greatest = 0;
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    greatest = std::max(greatest, std::abs(static_cast<double>(values[i]) - theirs[i]));
  }
  INFO("greatest difference " << greatest);
  REQUIRE(greatest < kTolerance);
}

TEST_CASE("logits of a file that transformers wrote are transformers' logits") {
  const Golden golden;
  const auto model = Gpt2::Load(kFolder, {}).value();
  RequireEqual(model->Logits(golden.Batch()).value(), golden.Floats("logits"));
}

TEST_CASE("hidden states of every layer are transformers'") {
  const Golden golden;
  const auto model = Gpt2::Load(kFolder, {}).value();
  for (std::int64_t layer = 0; layer <= model->config().layers; ++layer) {
    INFO("layer " << layer);
    RequireEqual(model->HiddenStates(golden.Batch(), layer).value(),
                 golden.Floats("hidden." + std::to_string(layer)));
  }
}

TEST_CASE("greedy generation is transformers', token by token") {
  const Golden golden;
  const auto model = Gpt2::Load(kFolder, {}).value();
  const TokenBatch batch = golden.Batch();
  for (std::int64_t s = 0; s < batch.sequences(); ++s) {
    const TokenBatch prompt = batch.Slice(s, s + 1);
    const auto theirs = golden.Integers("greedy." + std::to_string(s));
    GenerateOptions options;
    options.max_tokens = static_cast<std::int64_t>(theirs.size());
    const Generated ours = model->Generate(prompt.ids, options).value();
    REQUIRE(std::vector<std::int64_t>(ours.tokens.begin(), ours.tokens.end()) == theirs);
  }
}

}  // namespace
}  // namespace shoal::language
