// SPDX-License-Identifier: Apache-2.0
// ResNet-50 (He et al., "Deep Residual Learning for Image Recognition", CVPR 2016, table 1, with
// the stride in the 3x3), to train with random images and labels, so that a step can be timed.
//
// Not thread-safe.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace shoal::profiler {

class ResNet50 {
 public:
  explicit ResNet50(std::int64_t batch);

  // Computes the loss, its gradients, and an update with momentum. Returns the loss.
  double Step();
  // How many numbers are learned.
  std::int64_t parameters() const;

 private:
  struct Convolution {
    at::Tensor weights;  // [channels, depth, kernel, kernel]
    at::Tensor scale;
    at::Tensor bias;
    at::Tensor mean;
    at::Tensor variance;
    std::int64_t stride = 1;
  };
  struct Block {
    std::vector<Convolution> layers;
    // Nothing, or the convolution of the shortcut.
    std::vector<Convolution> shortcut;
  };

  at::Tensor Learned(const at::Tensor& values);
  Convolution Add(std::int64_t depth, std::int64_t channels, std::int64_t kernel,
                  std::int64_t stride);
  at::Tensor Forward() const;

  std::vector<at::Tensor> learned_;
  std::vector<at::Tensor> velocity_;
  Convolution stem_;
  std::vector<Block> blocks_;
  at::Tensor head_;
  at::Tensor head_bias_;
  at::Tensor images_;  // [batch, 3, 224, 224]
  at::Tensor labels_;  // [batch]
};

}  // namespace shoal::profiler
