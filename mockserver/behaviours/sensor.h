// SPDX-License-Identifier: Apache-2.0
// Sensor.ResetMetrics restarts the statistics of a sensor at its present reading.
#pragma once

#include "mockserver/service/handler.h"

namespace shoal::mockserver {

void AddSensor(HandlerTable& handlers);

}  // namespace shoal::mockserver
