// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/debug/gdb_server.h"

#include "machine/debug/gdb_session.h"

#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace tandem::machine {
namespace {

constexpr int kWaitMs = 100; // an interrupt of the host must not wait longer

bool readable(int socket, int wait_ms) {
  pollfd wait{.fd = socket, .events = POLLIN, .revents = 0};
  return ::poll(&wait, 1, wait_ms) > 0;
}

// gdb at the other end of a socket.
class Socket final : public GdbChannel {
public:
  Socket(int socket, const std::atomic<bool> &interrupted)
      : socket_(socket), interrupted_(&interrupted) {
    constexpr int kOn = 1;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &kOn, sizeof kOn);
  }
  ~Socket() override { ::close(socket_); }
  Socket(const Socket &) = delete;
  Socket &operator=(const Socket &) = delete;

  bool receive(std::string &bytes, bool wait) override {
    while (!readable(socket_, wait ? kWaitMs : 0)) {
      if (!wait)
        return true;
      if (interrupted_->load(std::memory_order_relaxed))
        return false;
    }
    std::array<char, 4096> part;
    const ssize_t count = ::recv(socket_, part.data(), part.size(), 0);
    if (count <= 0)
      return count < 0 && (errno == EINTR || errno == EAGAIN);
    bytes.append(part.data(), static_cast<std::size_t>(count));
    return true;
  }

  bool send(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t count = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count < 0 && errno == EINTR)
        continue;
      if (count <= 0)
        return false;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }

private:
  int socket_;
  const std::atomic<bool> *interrupted_;
};

} // namespace

Result<std::unique_ptr<GdbServer>> GdbServer::listen(std::uint16_t port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  constexpr int kOn = 1;
  if (socket >= 0)
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &kOn, sizeof kOn);
  socklen_t size = sizeof address;
  if (socket < 0 || ::bind(socket, reinterpret_cast<sockaddr *>(&address), size) != 0 ||
      ::listen(socket, 1) != 0 ||
      ::getsockname(socket, reinterpret_cast<sockaddr *>(&address), &size) != 0) {
    const int error = errno;
    if (socket >= 0)
      ::close(socket);
    return Error{fmt::format("--gdb {}: cannot listen on 127.0.0.1: {}; choose another port", port,
                             std::strerror(error))};
  }
  return std::unique_ptr<GdbServer>(new GdbServer(socket, ntohs(address.sin_port)));
}

GdbServer::~GdbServer() { ::close(listener_); }

Session::Stop GdbServer::serve(Machine &machine, Session &session, std::uint64_t limit,
                               const std::atomic<bool> &interrupted) {
  while (!readable(listener_, kWaitMs))
    if (interrupted.load(std::memory_order_relaxed))
      return Session::Stop::interrupted;
  const int accepted = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (accepted >= 0) {
    Socket socket(accepted, interrupted);
    GdbSession gdb(machine, session, limit, socket);
    if (const std::optional<Session::Stop> stop = gdb.serve())
      return *stop;
  }
  return session.run(limit);
}

} // namespace tandem::machine
