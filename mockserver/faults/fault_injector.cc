// SPDX-License-Identifier: Apache-2.0
#include "mockserver/faults/fault_injector.h"

#include <string>
#include <utility>

#include "mockserver/messages/extended_info.h"
#include "mockserver/messages/json_text.h"
#include "platform/runtime/random.h"

namespace shoal::mockserver {
namespace {

// The purposes of draws, so that each has its own random stream.
constexpr std::uint64_t kWhether = 0;
constexpr std::uint64_t kWhere = 1;

constexpr std::string_view kJson = "application/json";

}  // namespace

std::chrono::milliseconds Strikes::latency() const {
  std::chrono::milliseconds sum{0};
  for (const Fault* const delay : delays) sum += std::get<LatencyFault>(delay->effect).latency;
  return sum;
}

FaultInjector::FaultInjector(std::shared_ptr<const FaultSet> faults, std::uint64_t seed)
    : faults_(std::move(faults)), seed_(seed) {
  Restart();
}

void FaultInjector::Restart() {
  requests_ = 0;
  counts_.assign(faults_ == nullptr ? 0 : faults_->faults().size(), {});
}

Strikes FaultInjector::Next(Method method, std::string_view path) {
  Strikes strikes{.request = ++requests_};
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    const Fault& fault = faults_->faults()[i];
    if (!fault.Fits(method, path) || !Strike(fault, counts_[i])) continue;
    if (!std::holds_alternative<LatencyFault>(fault.effect)) {
      strikes.fault = &fault;
      break;
    }
    strikes.delays.push_back(&fault);
  }
  return strikes;
}

bool FaultInjector::Strike(const Fault& fault, Count& count) const {
  const std::uint64_t place = count.fitted++;
  if (fault.count && count.struck >= *fault.count) return false;
  const bool works =
      fault.flap && place % (fault.flap->fails + fault.flap->works) >= fault.flap->fails;
  if (works || UniformAt(fault, requests_, kWhether) >= fault.probability) return false;
  ++count.struck;
  return true;
}

double FaultInjector::UniformAt(const Fault& fault, std::uint64_t request,
                                std::uint64_t purpose) const {
  const std::uint64_t own = runtime::DeriveSeed(seed_, "fault/" + fault.name);
  return runtime::UniformAt(own, faults_->seed(), request, static_cast<std::uint32_t>(purpose));
}

void FaultInjector::TakeBack(const Strikes& strikes) {
  --counts_[static_cast<std::size_t>(strikes.fault - faults_->faults().data())].struck;
}

bool FaultInjector::Spoil(const Strikes& strikes, Response& response) {
  std::string body;
  if (response.content_type == kJson && response.external == nullptr) {
    if (response.body != nullptr) {
      body = *response.body;
    } else if (response.json != nullptr) {
      AppendText(body, *response.json);
    }
  }
  const std::size_t last = body.find_last_not_of(" \r\n\t");
  if (last == std::string::npos || last == 0) {
    TakeBack(strikes);
    return false;
  }
  if (std::get<MalformedFault>(strikes.fault->effect) == MalformedFault::kInvalid) {
    // The body, an object or an array, ends with the closing character of the other.
    body[last] = body[last] == '}' ? ']' : '}';
  } else {
    const double where = UniformAt(*strikes.fault, strikes.request, kWhere);
    body.resize(1 + static_cast<std::size_t>(where * static_cast<double>(last)));
  }
  response.body = std::make_shared<const std::string>(std::move(body));
  response.json = nullptr;
  return true;
}

Response FaultResponse(const StatusFault& fault, std::string_view path) {
  const std::string seconds = std::to_string(fault.retry_after.count());
  Response response;
  switch (fault.status) {
    case 401:
      response = ErrorResponse(401, "NoValidSession");
      response.headers.emplace_back("WWW-Authenticate", "Basic realm=\"Redfish\"");
      break;
    case 403:
      response = ErrorResponse(403, "InsufficientPrivilege");
      break;
    case 404:
      response = ErrorResponse(404, "ResourceMissingAtURI", {std::string(path)});
      break;
    case 405:
      response = ErrorResponse(405, "OperationNotAllowed");
      response.allow = AllowText({});
      break;
    case 409:
      response = ErrorResponse(409, "ResourceInUse");
      break;
    case 412:
      response = ErrorResponse(412, "PreconditionFailed");
      break;
    case 500:
      response = ErrorResponse(500, "InternalError");
      break;
    case 503:
      response = ErrorResponse(503, "ServiceTemporarilyUnavailable", {seconds});
      break;
    default:
      response = ErrorResponse(fault.status, "GeneralError");
  }
  if (fault.status == 503 || fault.status == 429) {
    response.headers.emplace_back("Retry-After", seconds);
  }
  return response;
}

}  // namespace shoal::mockserver
