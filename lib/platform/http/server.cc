// SPDX-License-Identifier: Apache-2.0
#include "platform/http/server.h"

#include <absl/container/flat_hash_map.h>
#include <algorithm>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "platform/http/address.h"
#include "platform/http/mailbox.h"
#include "platform/http/session.h"
#include "platform/http/tls_context.h"
#include "platform/runtime/clock.h"
#include "platform/runtime/mutex.h"
#include "platform/runtime/thread.h"

namespace shoal::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

constexpr std::chrono::milliseconds kAcceptRetry{50};

absl::StatusOr<tcp::endpoint> ResolveListen(asio::io_context& context, const std::string& text) {
  SHOAL_ASSIGN_OR_RETURN(const Address address, ParseAddress(text));
  boost::system::error_code error;
  tcp::resolver resolver(context);
  const auto results =
      resolver.resolve(address.host, std::to_string(address.port), tcp::resolver::passive, error);
  if (error || results.empty()) {
    return runtime::FailedPrecondition("cannot resolve " + text + ": " + error.message());
  }
  return results.begin()->endpoint();
}

absl::Status Listen(tcp::acceptor& acceptor, const tcp::endpoint& endpoint,
                    const std::string& text) {
  boost::system::error_code error;
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (!error) return absl::OkStatus();
  return runtime::FailedPrecondition("cannot listen on " + text + ": " + error.message());
}

}  // namespace

class Server::Impl {
 public:
  Impl(ServerOptions options, Handler handler);
  ~Impl() { Drain(std::chrono::milliseconds(0)); }

  absl::Status Start();
  void Drain(std::chrono::milliseconds patience) ABSL_LOCKS_EXCLUDED(mutex_);

  const std::string& address() const { return address_; }
  Counts counts() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // One io_context, its thread, and the sessions that live there. Only that thread uses anything
  // but the constructor.
  struct Worker final : Session::Owner {
    explicit Worker(Impl& server) : impl(server), guard(asio::make_work_guard(context)) {
      options = &impl.options_;
      handler = &impl.handler_;
      mailbox = std::make_shared<Mailbox>(context);
    }
    void Closed(Session& session) override {
      if (sessions.erase(&session) > 0) impl.OnClosed();
    }
    void Rejected() override { impl.rejected_.fetch_add(1, std::memory_order_relaxed); }

    Impl& impl;
    asio::io_context context{1};
    asio::executor_work_guard<asio::io_context::executor_type> guard;
    absl::flat_hash_map<Session*, std::shared_ptr<Session>> sessions;
    runtime::Thread thread;
  };

  absl::Status StartTls();
  void Accept();
  void OnAccept(Worker& worker, boost::system::error_code error, tcp::socket socket);
  void OnClosed() ABSL_LOCKS_EXCLUDED(mutex_);
  bool Admit() ABSL_LOCKS_EXCLUDED(mutex_);

  const ServerOptions options_;
  const Handler handler_;
  // Null means no TLS.
  std::unique_ptr<asio::ssl::context> tls_;
  std::vector<std::unique_ptr<Worker>> workers_;
  // Only the first worker's thread uses these.
  std::optional<tcp::acceptor> acceptor_;
  std::optional<asio::steady_timer> retry_;
  std::size_t next_worker_ = 0;
  std::string address_;
  // This count orders nothing.
  std::atomic<std::uint64_t> rejected_{0};

  mutable runtime::Mutex mutex_;
  runtime::CondVar none_left_;
  Counts counts_ ABSL_GUARDED_BY(mutex_);
  bool drained_ ABSL_GUARDED_BY(mutex_) = false;
};

Server::Impl::Impl(ServerOptions options, Handler handler)
    : options_(std::move(options)), handler_(std::move(handler)) {
  const std::int64_t threads = std::max<std::int64_t>(1, options_.threads);
  for (std::int64_t i = 0; i < threads; ++i) workers_.push_back(std::make_unique<Worker>(*this));
}

absl::Status Server::Impl::StartTls() {
  if (options_.certificate_file.empty() && options_.key_file.empty()) return absl::OkStatus();
  if (options_.certificate_file.empty() || options_.key_file.empty()) {
    return runtime::InvalidArgument("a certificate needs its key, and a key its certificate: " +
                                    options_.certificate_file + options_.key_file);
  }
  SHOAL_ASSIGN_OR_RETURN(tls_, ServerTls(options_.certificate_file, options_.key_file));
  for (const auto& worker : workers_) worker->tls = tls_.get();
  return absl::OkStatus();
}

absl::Status Server::Impl::Start() {
  SHOAL_RETURN_IF_ERROR(StartTls());
  asio::io_context& context = workers_.front()->context;
  SHOAL_ASSIGN_OR_RETURN(const tcp::endpoint endpoint, ResolveListen(context, options_.listen));
  acceptor_.emplace(context);
  retry_.emplace(context);
  SHOAL_RETURN_IF_ERROR(Listen(*acceptor_, endpoint, options_.listen));
  const tcp::endpoint bound = acceptor_->local_endpoint();
  address_ = Format({bound.address().to_string(), bound.port()});
  Accept();
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    Worker* const worker = workers_[i].get();
    worker->thread =
        runtime::Thread("http-" + std::to_string(i), [worker] { worker->context.run(); });
  }
  return absl::OkStatus();
}

void Server::Impl::Accept() {
  Worker& worker = *workers_[next_worker_++ % workers_.size()];
  acceptor_->async_accept(worker.context,
                          [this, &worker](boost::system::error_code error, tcp::socket socket) {
                            OnAccept(worker, error, std::move(socket));
                          });
}

void Server::Impl::OnAccept(Worker& worker, boost::system::error_code error, tcp::socket socket) {
  if (!acceptor_->is_open()) return;
  if (error) {
    // Most likely the process has no free descriptors; connections wait in the kernel's queue
    // meanwhile.
    retry_->expires_after(kAcceptRetry);
    retry_->async_wait([this](boost::system::error_code stopped) {
      if (!stopped) Accept();
    });
    return;
  }
  const bool admitted = Admit();
  auto session = std::make_shared<Session>(std::move(socket), worker);
  asio::post(worker.context, [&worker, session = std::move(session), admitted]() mutable {
    Session& started = *session;
    if (!admitted) return started.Refuse();
    worker.sessions.emplace(&started, std::move(session));
    started.Start();
  });
  Accept();
}

bool Server::Impl::Admit() {
  const runtime::MutexLock lock(mutex_);
  if (counts_.connections >= options_.max_connections) {
    ++counts_.refused_total;
    return false;
  }
  ++counts_.connections;
  ++counts_.accepted_total;
  return true;
}

void Server::Impl::OnClosed() {
  const runtime::MutexLock lock(mutex_);
  if (--counts_.connections == 0) none_left_.NotifyAll();
}

Server::Counts Server::Impl::counts() const {
  const runtime::MutexLock lock(mutex_);
  Counts counts = counts_;
  counts.rejected_total = rejected_.load(std::memory_order_relaxed);
  return counts;
}

void Server::Impl::Drain(std::chrono::milliseconds patience) {
  {
    const runtime::MutexLock lock(mutex_);
    if (std::exchange(drained_, true)) return;
  }
  if (!acceptor_.has_value() || !workers_.front()->thread.joinable()) return;
  asio::post(workers_.front()->context, [this] {
    boost::system::error_code ignored;
    acceptor_->close(ignored);
    retry_->cancel();
  });
  for (const auto& worker : workers_) {
    asio::post(worker->context, [w = worker.get()] {
      w->draining = true;
      std::vector<std::shared_ptr<Session>> sessions;
      for (const auto& [key, session] : w->sessions) sessions.push_back(session);
      for (const auto& session : sessions) session->Drain();
    });
  }
  {
    const runtime::TimePoint deadline = runtime::SystemClock().Now() + patience;
    const runtime::MutexLock lock(mutex_);
    while (counts_.connections > 0 && none_left_.WaitUntil(mutex_, deadline)) {
    }
  }
  for (const auto& worker : workers_) {
    asio::post(worker->context, [w = worker.get()] {
      std::vector<std::shared_ptr<Session>> sessions;
      for (const auto& [key, session] : w->sessions) sessions.push_back(session);
      for (const auto& session : sessions) session->Close();
      w->mailbox->Close();
      w->guard.reset();
      w->context.stop();
    });
  }
  for (const auto& worker : workers_) worker->thread.Join();
  // A connection may have come while its worker stopped; its peer must not wait until this object
  // is destroyed.
  for (const auto& worker : workers_) {
    worker->context.restart();
    worker->context.poll();
  }
}

absl::StatusOr<std::unique_ptr<Server>> Server::Create(ServerOptions options, Handler handler) {
  auto impl = std::make_unique<Impl>(std::move(options), std::move(handler));
  SHOAL_RETURN_IF_ERROR(impl->Start());
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() = default;

const std::string& Server::address() const { return impl_->address(); }
Server::Counts Server::counts() const { return impl_->counts(); }
void Server::Drain(std::chrono::milliseconds patience) { impl_->Drain(patience); }

}  // namespace shoal::http
