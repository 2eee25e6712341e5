// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>

#include "http/development_certificate.h"
#include "http/server.h"
#include "mockserver/control.h"
#include "mockserver/event_sender.h"
#include "mockserver/front.h"
#include "mockserver/instance_ports.h"
#include "mockserver/instance_table.h"
#include "mockserver/options.h"
#include "mockserver/wall_clock.h"
#include "runtime/clock.h"
#include "runtime/log.h"
#include "runtime/metrics.h"
#include "runtime/program.h"

using namespace shoal;

int main(int argc, char** argv) {
  runtime::Program program("mockserver", "Simulates Redfish services from captures.");
  mockserver::Options options;
  program.AddSection("mockserver", options);
  if (const auto code = program.Parse(argc, argv)) return *code;

  runtime::Metrics metrics;
  if (auto status = metrics.Expose(options.metrics_listen); !status.ok()) {
    return program.Fail(status);
  }
  if (!options.certificate_file.empty() && !options.key_file.empty()) {
    const absl::Status made =
        http::MakeDevelopmentCertificate(options.certificate_file, options.key_file);
    if (!made.ok()) return program.Fail(made);
  }
  auto worlds = mockserver::LoadWorlds(options);
  if (!worlds.ok()) return program.Fail(worlds.status());
  const auto table_options = options.Table();
  if (!table_options.ok()) return program.Fail(table_options.status());
  auto table = mockserver::InstanceTable::Create(*std::move(worlds), *table_options);
  if (!table.ok()) return program.Fail(table.status());

  mockserver::EventSender sender(metrics);
  mockserver::Front front(**table, metrics, &sender);
  mockserver::InstancePorts ports(**table, front, options.Ports(program.cluster()));
  mockserver::Control control(**table, metrics, options.Controls(), &sender, &ports);
  mockserver::WallClock wall_clock(**table, sender);
  auto services = http::Server::Create(
      options.Front(program.cluster()),
      [&front](const http::ServerRequest& request) { return front.Handle(request); });
  if (!services.ok()) return program.Fail(services.status());
  auto controls = http::Server::Create(
      options.Control(program.cluster()),
      [&control](const http::ServerRequest& request) { return control.Handle(request); });
  if (!controls.ok()) return program.Fail(controls.status());
  spdlog::info("event=listening address={} control={}", (*services)->address(),
               (*controls)->address());

  const int code = program.WaitForStop();

  runtime::Clock& clock = runtime::SystemClock();
  const runtime::TimePoint deadline = clock.Now() + std::chrono::milliseconds(options.drain_ms);
  const auto left = [&] {
    return std::max(std::chrono::milliseconds(0),
                    std::chrono::duration_cast<std::chrono::milliseconds>(deadline - clock.Now()));
  };
  (*controls)->Drain(left());
  front.Hasten();
  ports.Drain(left());
  (*services)->Drain(left());
  spdlog::info("event=stopped");
  return code;
}
