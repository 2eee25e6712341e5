// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/gymnasium_options.h"

namespace shoal::actor {

void GymnasiumOptions::Visit(runtime::Visitor& visitor) {
  visitor.Knob("name", name,
               {.help = "the environment, as in CartPole-v1 or my_package:MyTask-v0"});
  visitor.Knob("python", python,
               {.help = "the Python that has the package shoal_gym, by name or path"});
}

}  // namespace shoal::actor
