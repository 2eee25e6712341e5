// SPDX-License-Identifier: Apache-2.0
#include "profiler/resnet50.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/add.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>

namespace shoal::profiler {
namespace {

constexpr std::int64_t kClasses = 1000;

}  // namespace

at::Tensor ResNet50::Learned(const at::Tensor& values) {
  velocity_.push_back(at::zeros_like(values));
  learned_.push_back(values.requires_grad_(true));
  return learned_.back();
}

ResNet50::Convolution ResNet50::Add(std::int64_t depth, std::int64_t channels, std::int64_t kernel,
                                    std::int64_t stride) {
  const double spread = std::sqrt(2.0 / static_cast<double>(kernel * kernel * channels));
  return {.weights = Learned(at::randn({channels, depth, kernel, kernel}).mul_(spread)),
          .scale = Learned(at::ones({channels})),
          .bias = Learned(at::zeros({channels})),
          .mean = at::zeros({channels}),
          .variance = at::ones({channels}),
          .stride = stride};
}

ResNet50::ResNet50(std::int64_t batch) {
  stem_ = Add(3, 64, 7, 2);
  std::int64_t depth = 64;
  std::int64_t width = 64;
  for (const int count : {3, 4, 6, 3}) {
    for (int i = 0; i < count; ++i) {
      const std::int64_t stride = i == 0 && width > 64 ? 2 : 1;
      Block block;
      block.layers = {Add(depth, width, 1, 1), Add(width, width, 3, stride),
                      Add(width, 4 * width, 1, 1)};
      if (i == 0) block.shortcut = {Add(depth, 4 * width, 1, stride)};
      blocks_.push_back(std::move(block));
      depth = 4 * width;
    }
    width *= 2;
  }
  head_ = Learned(at::randn({kClasses, depth}).mul_(0.01));
  head_bias_ = Learned(at::zeros({kClasses}));
  images_ = at::randn({batch, 3, 224, 224});
  labels_ = at::randint(kClasses, {batch}, at::kLong);
}

at::Tensor ResNet50::Forward() const {
  const auto convolve = [](const Convolution& layer, const at::Tensor& x) {
    const std::int64_t padding = layer.weights.size(2) / 2;
    const at::Tensor y =
        at::conv2d(x, layer.weights, {}, {layer.stride, layer.stride}, {padding, padding});
    return at::batch_norm(y, layer.scale, layer.bias, layer.mean, layer.variance, true, 0.1, 1e-5,
                          false);
  };
  at::Tensor x = at::max_pool2d(at::relu(convolve(stem_, images_)), {3, 3}, {2, 2}, {1, 1});
  for (const Block& block : blocks_) {
    const at::Tensor shortcut = block.shortcut.empty() ? x : convolve(block.shortcut[0], x);
    x = at::relu(convolve(block.layers[0], x));
    x = at::relu(convolve(block.layers[1], x));
    x = at::relu(at::add(convolve(block.layers[2], x), shortcut));
  }
  return at::linear(x.mean(at::IntArrayRef{2, 3}), head_, head_bias_);
}

double ResNet50::Step() {
  const at::Tensor loss = at::cross_entropy_loss(Forward(), labels_);
  const auto gradients = torch::autograd::grad({loss}, learned_);
  const at::NoGradGuard no_gradient;
  for (std::size_t i = 0; i < learned_.size(); ++i) {
    velocity_[i].mul_(0.9).add_(gradients[i]);
    learned_[i].add_(velocity_[i], -1e-3);
  }
  return loss.item<double>();
}

std::int64_t ResNet50::parameters() const {
  std::int64_t count = 0;
  for (const at::Tensor& tensor : learned_) count += tensor.numel();
  return count;
}

}  // namespace shoal::profiler
