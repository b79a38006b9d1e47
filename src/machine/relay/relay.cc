// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/relay/relay.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <poll.h>

#include <slirp/libslirp.h>

namespace tandem::machine {
namespace {

in_addr address(const char *text) {
  in_addr value{};
  CHECK(::inet_pton(AF_INET, text, &value) == 1);
  return value;
}

short to_poll(int events) {
  return static_cast<short>(((events & SLIRP_POLL_IN) != 0 ? POLLIN : 0) |
                            ((events & SLIRP_POLL_OUT) != 0 ? POLLOUT : 0) |
                            ((events & SLIRP_POLL_PRI) != 0 ? POLLPRI : 0));
}

int from_poll(short events) {
  return ((events & POLLIN) != 0 ? SLIRP_POLL_IN : 0) |
         ((events & POLLOUT) != 0 ? SLIRP_POLL_OUT : 0) |
         ((events & POLLPRI) != 0 ? SLIRP_POLL_PRI : 0) |
         ((events & POLLERR) != 0 ? SLIRP_POLL_ERR : 0) |
         ((events & POLLHUP) != 0 ? SLIRP_POLL_HUP : 0);
}

} // namespace

// What the library asks of whoever embeds it. Its timers are for IPv6 only, which is off.
class Relay::Host {
public:
  Host(NetworkPort &port, const Clock &clock) : port_(&port), clock_(&clock) {
    SlirpConfig configuration{};
    configuration.version = 4;
    configuration.restricted = 1;
    configuration.in_enabled = true;
    configuration.vnetwork = address("10.0.2.0");
    configuration.vnetmask = address("255.255.255.0");
    configuration.vhost = address("10.0.2.2");
    configuration.vdhcp_start = address("10.0.2.15");
    configuration.vnameserver = address("10.0.2.3");
    configuration.disable_host_loopback = true;
    configuration.disable_dns = true;
    static const SlirpCb kCallbacks = callbacks();
    slirp_ = slirp_new(&configuration, &kCallbacks, this);
    CHECK(slirp_ != nullptr);
  }
  ~Host() { slirp_cleanup(slirp_); }
  Host(const Host &) = delete;
  Host &operator=(const Host &) = delete;

  // False: the port is taken.
  bool forward(std::uint16_t host, std::uint16_t guest) {
    return slirp_add_hostfwd(slirp_, 0, address("127.0.0.1"), host, address("10.0.2.15"), guest) ==
           0;
  }

  void receive(std::span<const std::byte> frame) {
    slirp_input(slirp_, reinterpret_cast<const std::uint8_t *>(frame.data()),
                static_cast<int>(frame.size()));
  }

  void poll(int wait_ms) {
    polls_.clear();
    auto wait = static_cast<std::uint32_t>(wait_ms);
    slirp_pollfds_fill(slirp_, &wait, add_poll, this);
    const int count = ::poll(
        polls_.data(), polls_.size(),
        static_cast<int>(std::min<std::uint32_t>(wait, static_cast<std::uint32_t>(wait_ms))));
    slirp_pollfds_poll(slirp_, count < 0 ? 1 : 0, events_of, this);
  }

private:
  static SlirpCb callbacks() {
    SlirpCb table{};
    table.send_packet = send_packet;
    table.guest_error = [](const char *, void *) {};
    table.clock_get_ns = [](void *self) {
      return static_cast<std::int64_t>(static_cast<Host *>(self)->clock_->now);
    };
    table.timer_new = [](SlirpTimerCb, void *, void *self) { return self; };
    table.timer_free = [](void *, void *) {};
    table.timer_mod = [](void *, std::int64_t, void *) {};
    table.register_poll_fd = [](int, void *) {};
    table.unregister_poll_fd = [](int, void *) {};
    table.notify = [](void *) {};
    return table;
  }

  static ssize_t send_packet(const void *data, std::size_t size, void *self) {
    static_cast<Host *>(self)->port_->deliver({static_cast<const std::byte *>(data), size});
    return static_cast<ssize_t>(size);
  }
  static int add_poll(int file, int events, void *self) {
    auto &polls = static_cast<Host *>(self)->polls_;
    polls.push_back({.fd = file, .events = to_poll(events), .revents = 0});
    return static_cast<int>(polls.size()) - 1;
  }
  static int events_of(int index, void *self) {
    return from_poll(static_cast<Host *>(self)->polls_[static_cast<std::size_t>(index)].revents);
  }

  NetworkPort *port_;
  const Clock *clock_;
  Slirp *slirp_;
  std::vector<pollfd> polls_;
};

Relay::Relay() = default;
Relay::~Relay() = default;

Result<std::unique_ptr<Relay>>
Relay::make(NetworkPort &port, const Clock &clock,
            const std::vector<std::pair<std::uint16_t, std::uint16_t>> &forwards) {
  std::unique_ptr<Relay> relay(new Relay());
  relay->host_ = std::make_unique<Host>(port, clock);
  for (const auto &[host, guest] : forwards)
    if (!relay->host_->forward(host, guest))
      return Error{fmt::format("--net relay={}:{}: cannot listen on 127.0.0.1: {}; choose another "
                               "port",
                               host, guest, std::strerror(errno))};
  return relay;
}

void Relay::receive(std::span<const std::byte> frame) { host_->receive(frame); }
void Relay::poll(int wait_ms) { host_->poll(wait_ms); }

} // namespace tandem::machine
