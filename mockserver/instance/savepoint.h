// SPDX-License-Identifier: Apache-2.0
// A copy of an instance at a moment (Instance::Save), except for the numbers that it must not give
// out twice (Editor::NewNumber). It is a value that only Instance reads.
#pragma once

#include <memory>

#include "mockserver/faults/fault_injector.h"
#include "mockserver/service/instance_state.h"

namespace shoal::mockserver {

class ExternalHandlers;
class RuleSet;

struct Savepoint {
  InstanceState state;
  // The rules and external handlers of the instance.
  std::shared_ptr<const RuleSet> rules;
  std::shared_ptr<const ExternalHandlers> external_handlers;
  FaultInjector faults;
};

}  // namespace shoal::mockserver
