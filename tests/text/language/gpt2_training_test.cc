// SPDX-License-Identifier: Apache-2.0
// Tests the parts of a trainer: gradients by every way to compute them, and the loss.
#include <ATen/ops/abs.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros_like.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/text/language/small_gpt2.h"
#include "text/language/causal_loss.h"
#include "text/language/gpt2_layout.h"
#include "text/language/gpt2_network.h"

namespace shoal::language {
namespace {

at::Tensor Flat(const std::vector<float>& values) {
  return at::from_blob(const_cast<float*>(values.data()),
                       {static_cast<std::int64_t>(values.size())}, at::kFloat)
      .clone();
}

double Greatest(const at::Tensor& tensor) { return at::abs(tensor).max().item<double>(); }

TokenBatch Batch() {
  TokenBatch batch;
  batch.Append(SomeIds(9, 1));
  batch.Append(SomeIds(1, 2));
  batch.Append(SomeIds(20, 3));
  return batch;
}

std::vector<float> Weights() {
  std::vector<float> weights(30, 1.0F);
  for (std::size_t i = 0; i < weights.size(); i += 3) weights[i] = 0;
  weights[4] = 2.5F;
  return weights;
}

// Computes the loss by its definition from all logits. The fused loss must equal it.
at::Tensor PlainSum(const Gpt2Network& network, const at::Tensor& hidden, const TokenBatch& batch,
                    const std::vector<float>& weights) {
  const at::Tensor log_probabilities = at::log_softmax(network.Logits(hidden), 1);
  at::Tensor sum = at::zeros_like(log_probabilities[0][0]);
  for (std::int64_t s = 0; s < batch.sequences(); ++s) {
    const std::int64_t end = batch.starts[static_cast<std::size_t>(s) + 1];
    for (std::int64_t t = batch.starts[static_cast<std::size_t>(s)] + 1; t < end; ++t) {
      const auto target = static_cast<std::size_t>(t);
      sum = sum.sub(log_probabilities[t - 1][batch.ids[target]].mul(weights[target]));
    }
  }
  return sum;
}

struct Trained {
  double sum = 0;
  double weight = 0;
  at::Tensor gradient;
};

enum class Loss { kPlain, kFused };

Trained Train(Loss loss, const NetworkOptions& options, std::int64_t rows_at_once = 7,
              std::int64_t multiple = 1) {
  const Gpt2Parameters parameters = SmallGpt2();
  const at::Tensor flat = Flat(parameters.flat);
  Trained trained;
  trained.gradient = at::zeros_like(flat);
  Gpt2Network network(parameters.config, flat, trained.gradient, options);
  const TokenBatch batch = Batch();
  const std::vector<float> weights = Weights();
  const at::Tensor hidden = network.Hidden(PackedTokens(batch, at::kCPU), 3);
  at::Tensor sum;
  if (loss == Loss::kPlain) {
    sum = PlainSum(network, hidden, batch, weights);
  } else {
    const CausalLoss fused = ComputeCausalLoss(hidden, network.embedding(), batch, weights,
                                               {.compute = options.compute,
                                                .rows_at_once = rows_at_once,
                                                .vocabulary_multiple = multiple});
    sum = fused.sum;
    trained.weight = fused.weight;
  }
  sum.mul(0.5).backward();
  network.CollectGradients();
  trained.sum = sum.item<double>();
  return trained;
}

TEST_CASE("the loss is the weighted cross-entropy, with its gradients, however many rows at once") {
  const Trained plain = Train(Loss::kPlain, {});
  for (const std::int64_t rows : {1, 7, 1000}) {
    const Trained fused = Train(Loss::kFused, {}, rows);
    REQUIRE(fused.sum == Approx(plain.sum).epsilon(1e-5));
    REQUIRE(Greatest(fused.gradient.sub(plain.gradient)) < 1e-4 * Greatest(plain.gradient));
  }
  // Of 30 tokens every third has no weight and one has 2.5. The first tokens of the three
  // sequences, one of which has a weight, do not count.
  REQUIRE(Train(Loss::kFused, {}).weight == Approx(20 + 1.5 - 1));
}

TEST_CASE("tokens that fill up the vocabulary change neither loss nor gradients") {
  const NetworkOptions options{.compute = GENERATE(at::kFloat, at::kBFloat16)};
  const Trained plain = Train(Loss::kFused, options);
  const Trained filled = Train(Loss::kFused, options, 7, 64);
  REQUIRE(filled.sum == Approx(plain.sum).epsilon(1e-6));
  REQUIRE(Greatest(filled.gradient.sub(plain.gradient)) <= 1e-5 * Greatest(plain.gradient));
}

TEST_CASE("a loss of hundreds is computed as well as a small one") {
  const double scale = GENERATE(1.0, 300.0);
  TokenBatch batch;
  batch.Append(std::vector<std::int32_t>{0, 1, 0, 2});
  const at::Tensor hidden = at::ones({4, 1}, at::kFloat);
  const at::Tensor embedding = at::tensor({0.0F, -0.5F, -1.0F}).mul(scale).view({3, 1});
  const double total = std::log(1 + std::exp(-0.5 * scale) + std::exp(-scale));
  const CausalLoss loss = ComputeCausalLoss(hidden, embedding, batch, {});
  REQUIRE(loss.sum.item<double>() == Approx(1.5 * scale + 3 * total).epsilon(1e-6));
}

TEST_CASE("rounded gradients of several passes add up without losing digits") {
  const Gpt2Parameters parameters = SmallGpt2();
  const at::Tensor flat = Flat(parameters.flat);
  const at::Tensor gradient = at::zeros_like(flat);
  Gpt2Network network(parameters.config, flat, gradient, {.compute = at::kBFloat16});
  const auto pass = [&] {
    const at::Tensor hidden = network.Hidden(PackedTokens(Batch(), at::kCPU), 3);
    ComputeCausalLoss(hidden, network.embedding(), Batch(), {}).sum.backward();
    network.CollectGradients();
  };
  pass();
  const at::Tensor once = gradient.clone();
  for (int i = 1; i < 100; ++i) pass();
  REQUIRE(Greatest(gradient.sub(once.mul(100))) < 1e-4 * Greatest(gradient));
}

TEST_CASE("a network that trains in bfloat16 follows its parameters when it is told to") {
  const Gpt2Parameters parameters = SmallGpt2();
  const at::Tensor flat = Flat(parameters.flat);
  const at::Tensor gradient = at::zeros_like(flat);
  Gpt2Network network(parameters.config, flat, gradient, {.compute = at::kBFloat16});
  flat.mul_(1.5);
  network.Refresh();
  const Gpt2Network other(parameters.config, flat, gradient, {.compute = at::kBFloat16});
  const PackedTokens tokens(Batch(), at::kCPU);
  REQUIRE(network.Hidden(tokens, 3).equal(other.Hidden(tokens, 3)));
}

TEST_CASE("gradients are the slopes of the loss") {
  const Gpt2Parameters parameters = SmallGpt2();
  const Trained trained = Train(Loss::kFused, {});
  const auto sum_at = [&](std::int64_t index, double step) {
    const at::Tensor flat = Flat(parameters.flat);
    flat[index].add_(step);
    const Gpt2Network network(parameters.config, flat, {}, {});
    const at::Tensor hidden = network.Hidden(PackedTokens(Batch(), at::kCPU), 3);
    return ComputeCausalLoss(hidden, network.embedding(), Batch(), Weights()).sum.item<double>();
  };
  const auto layout = Gpt2Layout(parameters.config);
  for (const char* name : {"transformer.wte.weight", "transformer.wpe.weight",
                           "transformer.h.0.ln_1.weight", "transformer.h.0.attn.c_attn.weight",
                           "transformer.h.1.attn.c_attn.bias", "transformer.h.1.mlp.c_fc.weight",
                           "transformer.h.2.mlp.c_proj.weight", "transformer.ln_f.bias"}) {
    const std::int64_t index = layout.Find(name)->offset + 5;
    const double step = 1e-2;
    const double slope = (sum_at(index, step) - sum_at(index, -step)) / (2 * step) * 0.5;
    INFO(name);
    REQUIRE(trained.gradient[index].item<double>() == Approx(slope).epsilon(0.02).margin(2e-3));
  }
}

TEST_CASE("checkpointing changes neither loss nor gradients") {
  const Trained plain = Train(Loss::kFused, {});
  const Trained again = Train(Loss::kFused, {.checkpoint = true});
  REQUIRE(again.sum == plain.sum);
  REQUIRE(Greatest(again.gradient.sub(plain.gradient)) <= 1e-6 * Greatest(plain.gradient));
  REQUIRE(Greatest(plain.gradient) > 0.1);
}

TEST_CASE("gradients of two backward passes add up") {
  const Gpt2Parameters parameters = SmallGpt2();
  const at::Tensor flat = Flat(parameters.flat);
  const at::Tensor gradient = at::zeros_like(flat);
  const Gpt2Network network(parameters.config, flat, gradient, {.checkpoint = true});
  at::Tensor once;
  for (int pass = 0; pass < 2; ++pass) {
    const at::Tensor hidden = network.Hidden(PackedTokens(Batch(), at::kCPU), 3);
    ComputeCausalLoss(hidden, network.embedding(), Batch(), {}).sum.backward();
    if (pass == 0) once = gradient.clone();
  }
  REQUIRE(Greatest(gradient.sub(once.mul(2))) < 1e-5 * Greatest(once));
}

TEST_CASE("an adapter's gradients flow while the model's own parameters get none") {
  const Gpt2Parameters parameters = SmallGpt2();
  const LoraParameters adapter = InitialLora(parameters.config, {}, 5).value();
  std::vector<at::Tensor> gradients;
  for (const bool checkpoint : {false, true}) {
    const at::Tensor flat = Flat(adapter.flat);
    const at::Tensor gradient = at::zeros_like(flat);
    Gpt2Network network(parameters.config, Flat(parameters.flat), {}, {.checkpoint = checkpoint});
    network.Adapt(adapter.options, flat, gradient);
    const at::Tensor hidden = network.Hidden(PackedTokens(Batch(), at::kCPU), 3);
    ComputeCausalLoss(hidden, network.embedding(), Batch(), {}).sum.backward();
    gradients.push_back(gradient);
  }
  REQUIRE(Greatest(gradients[0]) > 1e-3);
  REQUIRE(Greatest(gradients[0].sub(gradients[1])) <= 1e-6 * Greatest(gradients[0]));
}

TEST_CASE("bfloat16 gradients point where float32's do") {
  const at::Tensor full = Train(Loss::kFused, {}).gradient;
  for (const bool checkpoint : {false, true}) {
    const at::Tensor half =
        Train(Loss::kFused, {.compute = at::kBFloat16, .checkpoint = checkpoint}).gradient;
    const double cosine =
        full.dot(half).item<double>() / (full.norm().item<double>() * half.norm().item<double>());
    REQUIRE(cosine > 0.99);
  }
}

TEST_CASE("the loss counts what was the most probable token") {
  const Gpt2Parameters parameters = SmallGpt2();
  const Gpt2Network network(parameters.config, Flat(parameters.flat), {}, {});
  TokenBatch batch;
  batch.Append(SomeIds(9, 1));
  const at::Tensor hidden = network.Hidden(PackedTokens(batch, at::kCPU), 3);
  const at::Tensor best = network.Logits(hidden).argmax(1);
  // The targets become the model's most probable tokens, while hidden states stay those of the old
  // ids.
  batch.ids[3] = static_cast<std::int32_t>(best[2].item<std::int64_t>());
  batch.ids[5] = static_cast<std::int32_t>(best[4].item<std::int64_t>());
  const auto correct = [&](std::size_t target) {
    std::vector<float> weights(9, 0.0F);
    weights[target] = 3;
    return ComputeCausalLoss(hidden, network.embedding(), batch, weights).correct.item<double>();
  };
  REQUIRE(correct(3) == 3);
  REQUIRE(correct(5) == 3);
  batch.ids[5] = (batch.ids[5] + 1) % 50;
  REQUIRE(correct(5) == 0);
}

TEST_CASE("a few steps down the gradient learn a sequence by heart") {
  Gpt2Parameters parameters = InitialGpt2(SmallGpt2().config, 1).value();
  const at::Tensor flat = Flat(parameters.flat);
  const at::Tensor gradient = at::zeros_like(flat);
  const Gpt2Network network(parameters.config, flat, gradient, {});
  TokenBatch batch;
  batch.Append(SomeIds(12));
  double first = 0;
  double last = 0;
  for (int step = 0; step < 150; ++step) {
    gradient.zero_();
    const at::Tensor hidden = network.Hidden(PackedTokens(batch, at::kCPU), 3);
    const CausalLoss loss = ComputeCausalLoss(hidden, network.embedding(), batch, {});
    const at::Tensor mean = loss.sum.div(loss.weight);
    mean.backward();
    flat.sub_(gradient.mul(0.5));
    last = mean.item<double>();
    if (step == 0) first = last;
  }
  REQUIRE(first == Approx(std::log(50.0)).epsilon(0.05));
  REQUIRE(last < 0.1);
}

}  // namespace
}  // namespace shoal::language
