// SPDX-License-Identifier: Apache-2.0
// Section [environment.gymnasium] of the configuration: which of Gymnasium's environments is
// played, and by which Python.
#pragma once

#include <string>

#include "platform/runtime/config.h"

namespace shoal::actor {

struct GymnasiumOptions {
  // As gymnasium.make takes it: "CartPole-v1", "ALE/Pong-v5", "my_package:MyTask-v0".
  std::string name = "";
  // The interpreter that has the package python/shoal_gym: a path, or a name in PATH.
  std::string python = "python3";

  void Visit(runtime::Visitor& visitor);
};

}  // namespace shoal::actor
