// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/classic/pixel_catch.h"

#include <algorithm>
#include <cstddef>

namespace shoal::actor {
namespace {

constexpr int kBall = 4;
constexpr int kFall = 4;
constexpr int kMaximumDrift = 3;
constexpr int kPaddleWidth = 12;
constexpr int kPaddleHeight = 4;
constexpr int kPaddleStep = 4;
constexpr int kPaddleRow = PixelCatch::kSide - kPaddleHeight;
constexpr std::uint32_t kWhite = 255;
constexpr int kStepsOfBall = kPaddleRow / kFall;

}  // namespace

PixelCatch::PixelCatch()
    : spec_({.name = "pixels",
             .observation_shape = {kSide, kSide, kFrames},
             .observation_dtype = runtime::DType::kUInt8,
             .actions = 3,
             .step_limit = kBalls * kStepsOfBall,
             .success_return = kBalls}),
      pixels_(static_cast<std::size_t>(kSide * kSide)) {}

void PixelCatch::Reset(const EpisodeDraws& draws) {
  draws_ = draws;
  balls_ = 0;
  paddle_ = (kSide - kPaddleWidth) / 2;
  std::fill(pixels_.begin(), pixels_.end(), 0U);
  DropBall();
  Draw();
}

void PixelCatch::DropBall() {
  const auto index = static_cast<std::uint32_t>(2 * balls_);
  ball_row_ = 0;
  ball_column_ = draws_.Below(kSide - kBall + 1, index);
  drift_ = draws_.Below(2 * kMaximumDrift + 1, index + 1) - kMaximumDrift;
}

SimulationStep PixelCatch::Step(std::int64_t action) {
  paddle_ =
      std::clamp(paddle_ + (static_cast<int>(action) - 1) * kPaddleStep, 0, kSide - kPaddleWidth);
  ball_row_ += kFall;
  ball_column_ += drift_;
  if (ball_column_ < 0 || ball_column_ > kSide - kBall) {
    ball_column_ = ball_column_ < 0 ? -ball_column_ : 2 * (kSide - kBall) - ball_column_;
    drift_ = -drift_;
  }
  SimulationStep step;
  if (ball_row_ >= kPaddleRow) {
    const bool caught = ball_column_ + kBall > paddle_ && ball_column_ < paddle_ + kPaddleWidth;
    step.reward = caught ? 1.0F : -1.0F;
    step.terminated = ++balls_ == kBalls;
    DropBall();
  }
  Draw();
  return step;
}

void PixelCatch::Draw() {
  for (std::uint32_t& pixel : pixels_) pixel >>= 8;
  Fill(kPaddleRow, paddle_, kPaddleHeight, kPaddleWidth);
  Fill(ball_row_, ball_column_, kBall, kBall);
}

void PixelCatch::Fill(int row, int column, int height, int width) {
  for (int y = row; y < row + height; ++y) {
    const auto first = pixels_.begin() + y * kSide + column;
    std::for_each(first, first + width, [](std::uint32_t& pixel) { pixel |= kWhite << 24; });
  }
}

void PixelCatch::Observe(std::span<float> out) const {
  runtime::ToFloats(runtime::DType::kUInt8, std::as_bytes(std::span(pixels_)), out);
}

void PixelCatch::ObserveFrame(std::span<std::byte> out) const {
  std::ranges::copy(std::as_bytes(std::span(pixels_)), out.begin());
}

}  // namespace shoal::actor
