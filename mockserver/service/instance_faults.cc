// SPDX-License-Identifier: Apache-2.0
// What an instance does with requests that faults strike.
#include <utility>
#include <variant>

#include "mockserver/faults/fault_injector.h"
#include "mockserver/service/editor.h"
#include "mockserver/service/instance.h"

namespace shoal::mockserver {
namespace {

// Null when the fault that strikes is another.
template <typename Effect>
const Effect* EffectOf(const Strikes& strikes) {
  return strikes.fault == nullptr ? nullptr : std::get_if<Effect>(&strikes.fault->effect);
}

}  // namespace

void Instance::SetFaults(std::shared_ptr<const FaultSet> faults) {
  faults_ = FaultInjector(std::move(faults), options_.seed);
}

Response Instance::ServeStruck(const Request& request, std::string_view uri,
                               const Strikes& strikes) {
  for (const Fault* const delay : strikes.delays) {
    RecordFault(*delay, request.method, uri, strikes.request);
  }
  const auto* const malformed = EffectOf<MalformedFault>(strikes);
  if (strikes.fault != nullptr && malformed == nullptr) {
    RecordFault(*strikes.fault, request.method, uri, strikes.request);
  }

  Response response;
  const auto* const drop = EffectOf<DropFault>(strikes);
  if (const auto* const status = EffectOf<StatusFault>(strikes); status != nullptr) {
    response = FaultResponse(*status, uri);
  } else if (drop == nullptr || *drop == DropFault::kAnswer) {
    response = Serve(request, uri);
  }
  response.dropped = drop != nullptr;
  if (response.dropped && response.event_stream != 0) {
    CloseStream(std::exchange(response.event_stream, 0));
  }
  if (malformed != nullptr && faults_.Spoil(strikes, response)) {
    RecordFault(*strikes.fault, request.method, uri, strikes.request);
  }

  response.latency = strikes.latency();
  if (options_.clock == ClockKind::kVirtual) Advance(response.latency);
  return response;
}

void Instance::RecordFault(const Fault& fault, Method method, std::string_view uri,
                           std::uint64_t number) {
  Json detail = fault.Summary();
  detail["method"] = std::string(Name(method));
  detail["request"] = number;
  const double seconds = std::chrono::duration<double>(now_).count();
  Append({std::string(kFaultRecord), std::string(uri), std::move(detail), seconds});
}

}  // namespace shoal::mockserver
