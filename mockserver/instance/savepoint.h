// SPDX-License-Identifier: Apache-2.0
// An instance as it was at one moment (Instance::Save), in every respect but the numbers that it
// gives out once (Editor::NewNumber). A value that only Instance looks into.
#pragma once

#include <memory>

#include "mockserver/faults/fault_injector.h"
#include "mockserver/service/instance_state.h"

namespace shoal::mockserver {

class ExternalHandlers;
class RuleSet;

struct Savepoint {
  InstanceState state;
  // What the instance was taught.
  std::shared_ptr<const RuleSet> rules;
  std::shared_ptr<const ExternalHandlers> external_handlers;
  FaultInjector faults;
};

}  // namespace shoal::mockserver
