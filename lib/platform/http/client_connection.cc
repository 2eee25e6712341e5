// SPDX-License-Identifier: Apache-2.0
#include "platform/http/client_connection.h"

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <deque>
#include <optional>
#include <utility>

#include "platform/http/address.h"
#include "platform/http/client_stream.h"

namespace shoal::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using asio::ip::tcp;
using ErrorCode = boost::system::error_code;

// The number of bytes that one read requests from the kernel.
constexpr std::size_t kAnswerBytes = 16384;

ClientResponse ToResponse(beast::http::response<beast::http::string_body>&& message) {
  ClientResponse response;
  response.status = static_cast<int>(message.result_int());
  for (const auto& field : message) {
    response.headers.Add(std::string(field.name_string()), std::string(field.value()));
  }
  response.body = std::move(message.body());
  return response;
}

std::string Head(const ClientRequest& request, const std::string& host) {
  std::string head;
  head.reserve(256);
  head.append(request.method).append(" ");
  for (const char c : request.target) {
    if (static_cast<unsigned char>(c) > 0x20 && c != 0x7f) head.push_back(c);
  }
  head.append(" HTTP/1.1\r\n");
  if (request.headers.Find("Host").empty()) head.append("Host: ").append(host).append("\r\n");
  for (const auto& [name, value] : request.headers) AppendHeader(head, name, value);
  const bool bodied = request.method != "GET" && request.method != "HEAD";
  if (!request.body.empty()) AppendHeader(head, "Content-Type", request.content_type);
  if (bodied || !request.body.empty()) {
    head.append("Content-Length: ").append(std::to_string(request.body.size())).append("\r\n");
  }
  return head.append("\r\n");
}

}  // namespace

class ClientConnection::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(asio::any_io_executor executor, ClientOptions options)
      : executor_(std::move(executor)),
        options_(std::move(options)),
        resolver_(executor_),
        stream_(executor_, options_.tls) {}

  void Send(ClientRequest request, Callback callback) {
    if (waiting_.size() >= options_.max_waiting) {
      return Later(std::move(callback),
                   runtime::ResourceExhausted(options_.address + ": " +
                                              std::to_string(options_.max_waiting) +
                                              " requests are waiting"));
    }
    waiting_.push_back({std::move(request), std::move(callback), false});
    if (waiting_.size() == 1) {
      asio::post(executor_, [self = shared_from_this()] { self->Begin(); });
    }
  }

  void Abandon() {
    abandoned_ = true;
    resolver_.cancel();
    stream_.tcp().close();
    for (Pending& pending : std::exchange(waiting_, {})) {
      Later(std::move(pending.callback), runtime::Cancelled("the connection was given up"));
    }
  }

  std::size_t waiting() const { return waiting_.size(); }
  std::uint64_t connects_total() const { return connects_total_; }

 private:
  using Parser = beast::http::response_parser<beast::http::string_body>;

  struct Pending {
    ClientRequest request;
    Callback callback;
    bool repeated;
  };

  void Later(Callback callback, absl::Status status) {
    asio::post(executor_,
               [callback = std::move(callback), status = std::move(status)] { callback(status); });
  }

  // Returns whether the peer has closed, or sent bytes that nobody requested.
  bool IsStale() {
    ErrorCode error;
    char byte = 0;
    stream_.tcp().socket().receive(asio::buffer(&byte, 1), tcp::socket::message_peek, error);
    return error != asio::error::would_block;
  }

  void Begin() {
    if (abandoned_ || waiting_.empty()) return;
    if (connected_ && IsStale()) Disconnect();
    connected_ ? Write() : Connect();
  }

  void Connect() {
    const absl::StatusOr<Address> address = ParseAddress(options_.address);
    if (!address.ok()) return Finish(address.status());
    resolver_.async_resolve(
        address->host, std::to_string(address->port),
        [self = shared_from_this()](ErrorCode error, tcp::resolver::results_type results) {
          if (self->abandoned_) return;
          if (error) return self->Fail(error, "cannot resolve");
          self->stream_.tcp().expires_after(self->options_.connect_deadline);
          self->stream_.tcp().async_connect(results,
                                            [self](ErrorCode failed, const tcp::endpoint&) {
                                              if (self->abandoned_) return;
                                              if (failed)
                                                return self->Fail(failed, "cannot connect");
                                              self->OnConnected();
                                            });
        });
  }

  void OnConnected() {
    ErrorCode ignored;
    stream_.tcp().socket().set_option(tcp::no_delay(true), ignored);
    // IsStale needs a socket that does not block.
    stream_.tcp().socket().non_blocking(true, ignored);
    connected_ = true;
    ++connects_total_;
    stream_.secure() ? Handshake() : Write();
  }

  void Handshake() {
    stream_.tcp().expires_after(options_.connect_deadline);
    stream_.Handshake(ParseAddress(options_.address)->host,
                      [self = shared_from_this()](ErrorCode error) {
                        if (self->abandoned_) return;
                        if (error) return self->OnHandshakeFailed(error);
                        self->Write();
                      });
  }

  void OnHandshakeFailed(ErrorCode error) {
    const std::string refusal = stream_.RefusalReason();
    if (refusal.empty()) return Fail(error, "no TLS");
    Disconnect();
    Finish(runtime::FailedPrecondition(options_.address +
                                       ": its certificate is not trusted: " + refusal));
  }

  void Write() {
    const ClientRequest& request = waiting_.front().request;
    head_ = Head(request, options_.address);
    parser_.emplace();
    parser_->body_limit(static_cast<std::uint64_t>(options_.max_body_bytes));
    parser_->skip(request.method == "HEAD");
    stream_.tcp().expires_after(options_.request_deadline);
    const std::array<asio::const_buffer, 2> buffers = {asio::buffer(head_),
                                                       asio::buffer(request.body)};
    asio::async_write(stream_, buffers, [self = shared_from_this()](ErrorCode error, std::size_t) {
      if (self->abandoned_) return;
      // A peer may answer and close without reading all; its answer may still be readable.
      if (error && error != asio::error::broken_pipe && error != asio::error::connection_reset) {
        return self->Fail(error, "cannot send");
      }
      self->Read();
    });
  }

  // The header is read on its own: an eager parser forgets that the announced body is too long.
  void Read() {
    // Without it, the buffer grows from 512 bytes, with one system call for each step.
    buffer_.reserve(kAnswerBytes);
    beast::http::async_read_header(stream_, buffer_, *parser_,
                                   [self = shared_from_this()](ErrorCode error, std::size_t) {
                                     if (self->abandoned_) return;
                                     if (error) return self->OnReadFailed(error);
                                     self->ReadBody();
                                   });
  }

  void ReadBody() {
    if (parser_->is_done()) return OnRead();
    beast::http::async_read(stream_, buffer_, *parser_,
                            [self = shared_from_this()](ErrorCode error, std::size_t) {
                              if (self->abandoned_) return;
                              if (error) return self->OnReadFailed(error);
                              self->OnRead();
                            });
  }

  void OnReadFailed(ErrorCode error) {
    Pending& pending = waiting_.front();
    const bool nothing_came = !parser_->got_some() && error != beast::error::timeout;
    const bool may_repeat = pending.request.may_repeat && IsSafe(pending.request.method);
    if (nothing_came && !pending.repeated && may_repeat) {
      pending.repeated = true;
      Disconnect();
      return Connect();
    }
    Fail(error, "no answer");
  }

  void OnRead() {
    auto message = parser_->release();
    if (!message.keep_alive()) Disconnect();
    stream_.tcp().expires_never();
    Finish(ToResponse(std::move(message)));
  }

  void Fail(ErrorCode error, std::string_view what) {
    Disconnect();
    const std::string text = options_.address + ": " + std::string(what) + ": " + error.message();
    if (error == beast::error::timeout) return Finish(absl::DeadlineExceededError(text));
    if (error == beast::http::error::body_limit) {
      return Finish(runtime::ResourceExhausted(options_.address + ": the response is longer than " +
                                               std::to_string(options_.max_body_bytes) + " bytes"));
    }
    const bool cut =
        error == beast::http::error::end_of_stream || error == beast::http::error::partial_message;
    if (!cut && error.category() ==
                    beast::http::make_error_code(beast::http::error::bad_version).category()) {
      return Finish(runtime::DataLoss(text));
    }
    Finish(runtime::Unavailable(text));
  }

  void Finish(absl::StatusOr<ClientResponse> response) {
    Pending done = std::move(waiting_.front());
    waiting_.pop_front();
    if (!waiting_.empty()) {
      asio::post(executor_, [self = shared_from_this()] { self->Begin(); });
    }
    done.callback(std::move(response));
  }

  void Disconnect() {
    stream_.tcp().close();
    buffer_.clear();
    connected_ = false;
  }

  const asio::any_io_executor executor_;
  const ClientOptions options_;
  tcp::resolver resolver_;
  ClientStream stream_;
  beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  std::string head_;
  std::deque<Pending> waiting_;
  bool connected_ = false;
  bool abandoned_ = false;
  std::uint64_t connects_total_ = 0;
};

ClientConnection::ClientConnection(asio::any_io_executor executor, ClientOptions options)
    : impl_(std::make_shared<Impl>(std::move(executor), std::move(options))) {}

ClientConnection::~ClientConnection() { impl_->Abandon(); }

void ClientConnection::Send(ClientRequest request, Callback callback) {
  impl_->Send(std::move(request), std::move(callback));
}

std::size_t ClientConnection::waiting() const { return impl_->waiting(); }
std::uint64_t ClientConnection::connects_total() const { return impl_->connects_total(); }

}  // namespace shoal::http
