// SPDX-License-Identifier: Apache-2.0
#include "mockserver/process/options.h"

#include <optional>
#include <utility>

#include "mockserver/process/front.h"
#include "mockserver/rules/rules.h"
#include "platform/runtime/atomic_file.h"
#include "platform/runtime/log.h"
#include "platform/runtime/thread.h"
#include "redfish/capture/capture.h"
#include "redfish/capture/capture_path.h"
#include "redfish/schema/privilege_registry.h"
#include "redfish/schema/schema.h"

namespace shoal::mockserver {
namespace {

// Captures are looked up by name in captures/ of this folder.
constexpr char kData[] = "data";

WorldOptions::Style StyleOf(const std::string& success) {
  if (success == "no_content") return WorldOptions::Style::kNoContent;
  return success == "extended_info" ? WorldOptions::Style::kExtendedInfo
                                    : WorldOptions::Style::kRepresentation;
}

}  // namespace

void Options::Visit(runtime::Visitor& visitor) {
  visitor.Knob("listen", listen,
               {.help = "host:port of the services; empty: cluster.mockserver, else a free port"});
  visitor.Knob("control_listen", control_listen,
               {.help = "host:port of the control API; empty: cluster.mockserver_control, else a "
                        "free port"});
  visitor.Knob("metrics_listen", metrics_listen, {.help = "host:port for Prometheus; empty: none"});
  visitor.Knob(
      "captures", captures,
      {.help = "captures to serve, by name in data/captures or by the path of an archive or "
               "folder; plain /redfish/v1 is the first one's"});
  visitor.Knob("schema", schema, {.help = "schema table"});
  visitor.Knob("csdl", documents.csdl, {.help = "CSDL documents that services host"});
  visitor.Knob("json_schema", documents.json_schema, {.help = "JSON Schemas that services host"});
  visitor.Knob("registries", documents.registries, {.help = "registries that services host"});
  visitor.Knob(
      "success", success,
      {.help = "answer to a successful PATCH: the resource, a message, or 204; actions and "
               "DELETE answer with a message, or 204",
       .choices = {"representation", "extended_info", "no_content"}});
  visitor.Knob(
      "writes_oem", writes_oem,
      {.help = "whether PATCH writes what the standard does not define, Oem properties and "
               "resources of vendors' types, by the types of the captured values"});
  visitor.Knob("tells_features", tells_features,
               {.help = "whether the service root says which queries this service serves, not "
                        "which the captured host served; a crawl then differs from the capture"});
  visitor.Knob("privileges", privileges, {.help = "archive or folder with the privilege registry"});
  visitor.Knob("mode", mode,
               {.help = "stateful: services behave as the standard says; static: what would change "
                        "something is 404, unless it was taught",
                .choices = {"stateful", "static"}});
  visitor.Knob("clock", clock,
               {.help = "what moves the default instance's clock: the time of day, or the control "
                        "API alone; instances made by the control API say so themselves",
                .choices = {"real", "virtual"}});
  visitor.Knob("power_transient_ms", power_transient_ms,
               {.help = "how long PoweringOn and PoweringOff last on the default instance",
                .unit = "ms",
                .min = 0,
                .max = 86'400'000});
  visitor.Knob("task_duration_ms", task_duration_ms,
               {.help = "how long a task takes on the default instance",
                .unit = "ms",
                .min = 0,
                .max = 86'400'000});
  visitor.Knob("manager_restart_ms", manager_restart_ms,
               {.help = "how long a manager that restarts answers nobody, on the default instance",
                .unit = "ms",
                .min = 0,
                .max = 86'400'000});
  visitor.Knob("certificate_file", certificate_file,
               {.help = "PEM; with key_file the services speak TLS. Where neither file is there, a "
                        "certificate for this machine is made"});
  visitor.Knob("key_file", key_file, {.help = "PEM, the certificate's private key"});
  visitor.Knob(
      "authentication", authentication,
      {.help = "whether requests must say whose they are", .choices = {"none", "required"}});
  visitor.Knob("preconditions", preconditions,
               {.help = "whether a PATCH must say by If-Match which version it changes",
                .choices = {"optional", "required"}});
  visitor.Knob("account_password_file", account_password_file,
               {.help = "file with the password of captured accounts; empty: shoal-password"});
  visitor.Knob("rules", rules, {.help = "files of rules that every instance is taught"});
  visitor.Knob("external_handler_hosts", external_handler_hosts,
               {.help = "hosts, beside this machine, on which the control API lets handlers be"});
  visitor.Knob("event_delivery", event_delivery,
               {.help = "whether events are sent to their subscribers, or only decided on as if",
                .choices = {"push", "simulated"}});
  visitor.Knob("threads", threads, {.help = "threads that serve HTTP", .min = 1, .max = 256});
  visitor.Knob("max_connections", max_connections,
               {.help = "connections at once; further ones get 503", .min = 1, .max = 1'000'000});
  visitor.Knob("max_body_bytes", max_body_bytes,
               {.help = "longest request body", .unit = "bytes", .min = 1024, .max = 1 << 30});
  visitor.Knob("max_header_bytes", max_header_bytes,
               {.help = "longest request header", .unit = "bytes", .min = 1024, .max = 1 << 20});
  visitor.Knob("request_deadline_ms", request_deadline_ms,
               {.help = "from a request's first byte to its last, and for writing the answer",
                .unit = "ms",
                .min = 1,
                .max = 3'600'000});
  visitor.Knob("idle_deadline_ms", idle_deadline_ms,
               {.help = "how long a connection may wait for its next request",
                .unit = "ms",
                .min = 1,
                .max = 86'400'000});
  visitor.Knob("max_instances", max_instances,
               {.help = "instances at once", .min = 1, .max = 1'000'000});
  visitor.Knob("max_instance_ports", max_instance_ports,
               {.help = "instances at once with a port of their own, each with a thread",
                .min = 0,
                .max = 4096});
  visitor.Knob("instance_idle_seconds", instance_idle_seconds,
               {.help = "an instance unused for so long is deleted; 0: never",
                .unit = "s",
                .min = 0,
                .max = 31'536'000});
  visitor.Knob("drain_ms", drain_ms,
               {.help = "patience with requests in progress at shutdown",
                .unit = "ms",
                .min = 0,
                .max = 600'000});
  visitor.Group("proxy", proxy);
}

http::ServerOptions Options::Front(const runtime::ClusterOptions& cluster) const {
  http::ServerOptions server;
  server.listen = !listen.empty() ? listen : cluster.mockserver;
  if (server.listen.empty()) server.listen = "127.0.0.1:0";
  server.threads = threads;
  server.max_connections = max_connections;
  server.max_body_bytes = max_body_bytes;
  server.max_header_bytes = max_header_bytes;
  server.request_deadline = std::chrono::milliseconds(request_deadline_ms);
  server.idle_deadline = std::chrono::milliseconds(idle_deadline_ms);
  server.certificate_file = certificate_file;
  server.key_file = key_file;
  server.rejection_header_lines = kProtocolLines;
  return server;
}

http::ServerOptions Options::Control(const runtime::ClusterOptions& cluster) const {
  http::ServerOptions server = Front(cluster);
  server.listen = !control_listen.empty() ? control_listen : cluster.mockserver_control;
  if (server.listen.empty()) server.listen = "127.0.0.1:0";
  server.threads = 1;
  server.certificate_file = "";
  server.key_file = "";
  return server;
}

InstancePortsOptions Options::Ports(const runtime::ClusterOptions& cluster) const {
  return {.max_ports = static_cast<std::size_t>(max_instance_ports), .server = Front(cluster)};
}

absl::StatusOr<InstanceTableOptions> Options::Table() const {
  InstanceTableOptions table{.max_instances = max_instances,
                             .idle_limit = std::chrono::seconds(instance_idle_seconds)};
  InstanceOptions& instance = table.instance;
  instance.mode = mode == "static" ? Mode::kStatic : Mode::kStateful;
  instance.clock = clock == "real" ? ClockKind::kReal : ClockKind::kVirtual;
  instance.power_transient = std::chrono::milliseconds(power_transient_ms);
  instance.task_duration = std::chrono::milliseconds(task_duration_ms);
  instance.manager_restart = std::chrono::milliseconds(manager_restart_ms);
  instance.event_delivery =
      event_delivery == "push" ? EventDelivery::kPush : EventDelivery::kSimulated;
  if (authentication == "required") instance.authentication = Authentication::kRequired;
  if (preconditions == "required") instance.preconditions = Preconditions::kRequired;
  if (!account_password_file.empty()) {
    SHOAL_ASSIGN_OR_RETURN(instance.account_password, runtime::ReadSecret(account_password_file));
  }
  SHOAL_ASSIGN_OR_RETURN(instance.rules, RuleSet::Load(rules));
  return table;
}

ControlOptions Options::Controls() const {
  return {.external_handler_hosts = external_handler_hosts};
}

absl::StatusOr<ProxySettings> Options::Proxy() const {
  std::string password;
  if (!proxy.password_file.empty()) {
    SHOAL_ASSIGN_OR_RETURN(password, runtime::ReadSecret(proxy.password_file));
  }
  return proxy.Settings(std::move(password));
}

absl::StatusOr<std::vector<std::shared_ptr<const World>>> LoadWorlds(const Options& options) {
  using Loaded = absl::StatusOr<std::shared_ptr<const World>>;
  SHOAL_ASSIGN_OR_RETURN(const std::shared_ptr<const redfish::Schema> schema,
                         redfish::Schema::Load(options.schema));
  WorldOptions world_options{.style = StyleOf(options.success),
                             .writes_oem = options.writes_oem,
                             .tells_features = options.tells_features};
  SHOAL_ASSIGN_OR_RETURN(world_options.documents, StandardDocuments::Load(options.documents));
  SHOAL_ASSIGN_OR_RETURN(world_options.privileges,
                         redfish::PrivilegeRegistry::Load(options.privileges));
  std::vector<std::optional<Loaded>> loaded(options.captures.size());
  {
    std::vector<runtime::Thread> loaders;
    for (std::size_t i = 0; i < loaded.size(); ++i) {
      loaders.emplace_back("loader", [&, i] {
        const auto path = redfish::FindCapture(options.captures[i], kData);
        auto capture = path.ok() ? redfish::Capture::Load(*path) : path.status();
        loaded[i] = capture.ok() ? World::Create(*std::move(capture), schema, world_options)
                                 : Loaded(capture.status());
      });
    }
  }
  std::vector<std::shared_ptr<const World>> worlds;
  for (std::optional<Loaded>& world : loaded) {
    SHOAL_RETURN_IF_ERROR(world->status());
    const redfish::Capture& capture = (**world)->capture();
    spdlog::info("event=capture_loaded capture={} resources={} dangling={} errors={}",
                 capture.name(), capture.resources().size(), capture.dangling_count(),
                 capture.error_count());
    if (capture.dangling_count() > 0) {
      spdlog::warn("event=dangling_members capture={} count={} answer=404", capture.name(),
                   capture.dangling_count());
    }
    worlds.push_back(**world);
  }
  return worlds;
}

}  // namespace shoal::mockserver
