// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>

#include "mockserver/process/control.h"
#include "mockserver/process/event_sender.h"
#include "mockserver/process/front.h"
#include "mockserver/process/instance_ports.h"
#include "mockserver/process/instance_table.h"
#include "mockserver/process/options.h"
#include "mockserver/process/wall_clock.h"
#include "mockserver/proxy/proxy.h"
#include "platform/http/development_certificate.h"
#include "platform/http/server.h"
#include "platform/runtime/clock.h"
#include "platform/runtime/log.h"
#include "platform/runtime/metrics.h"
#include "platform/runtime/program.h"

namespace shoal::mockserver {
namespace {

// The part of drain_ms that is left, counted from construction.
class Patience {
 public:
  explicit Patience(const Options& options)
      : deadline_(runtime::SystemClock().Now() + std::chrono::milliseconds(options.drain_ms)) {}

  std::chrono::milliseconds left() const {
    return std::max(std::chrono::milliseconds(0),
                    std::chrono::duration_cast<std::chrono::milliseconds>(
                        deadline_ - runtime::SystemClock().Now()));
  }

 private:
  const runtime::TimePoint deadline_;
};

int Simulate(runtime::Program& program, const Options& options, runtime::Metrics& metrics) {
  auto worlds = LoadWorlds(options);
  if (!worlds.ok()) return program.Fail(worlds.status());
  const auto table_options = options.Table();
  if (!table_options.ok()) return program.Fail(table_options.status());
  auto table = InstanceTable::Create(*std::move(worlds), *table_options);
  if (!table.ok()) return program.Fail(table.status());

  EventSender sender(metrics);
  Front front(**table, metrics, &sender);
  InstancePorts ports(**table, front, options.Ports(program.cluster()));
  Control control(**table, metrics, options.Controls(), &sender, &ports);
  WallClock wall_clock(**table, sender);
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

  const Patience patience(options);
  (*controls)->Drain(patience.left());
  front.Hasten();
  ports.Drain(patience.left());
  (*services)->Drain(patience.left());
  spdlog::info("event=stopped");
  return code;
}

int StandIn(runtime::Program& program, const Options& options, runtime::Metrics& metrics) {
  auto settings = options.Proxy();
  if (!settings.ok()) return program.Fail(settings.status());
  auto proxy = Proxy::Create(*std::move(settings), metrics);
  if (!proxy.ok()) return program.Fail(proxy.status());
  auto services = http::Server::Create(
      options.Front(program.cluster()),
      [&proxy](const http::ServerRequest& request) { return (*proxy)->Handle(request); });
  if (!services.ok()) return program.Fail(services.status());
  spdlog::info("event=listening address={} proxy_of={}", (*services)->address(),
               options.proxy.host);

  const int code = program.WaitForStop();

  const Patience patience(options);
  (*services)->Drain(patience.left());
  const absl::Status closed =
      (*proxy)->Close(std::max(patience.left(), std::chrono::milliseconds(500)));
  if (!closed.ok()) return program.Fail(closed);
  spdlog::info("event=stopped");
  return code;
}

int Run(int argc, char** argv) {
  runtime::Program program("mockserver",
                           "Simulates Redfish services from captures, or stands in for a real one "
                           "(mockserver.proxy.host): reads are passed on and recorded, mutations "
                           "only as named one by one.");
  Options options;
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
  return options.proxy.IsOn() ? StandIn(program, options, metrics)
                              : Simulate(program, options, metrics);
}

}  // namespace
}  // namespace shoal::mockserver

int main(int argc, char** argv) { return shoal::mockserver::Run(argc, argv); }
