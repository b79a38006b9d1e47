// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/network/mesh.h"

namespace tandem::machine {
namespace {

std::uint32_t apart(std::uint32_t left, std::uint32_t right) {
  return left > right ? left - right : right - left;
}

} // namespace

MeshShape mesh_for(std::uint32_t tiles) {
  CHECK(tiles >= 1 && tiles <= kMaxTiles);
  MeshShape shape;
  shape.columns = 1;
  while (shape.columns * shape.columns < tiles)
    ++shape.columns;
  shape.rows = (tiles + shape.columns - 1) / shape.columns;
  return shape;
}

MeshStatistics::Network MeshStatistics::total() const {
  Network sum;
  for (const Network &one : networks) {
    sum.packets += one.packets;
    sum.multicasts += one.multicasts;
    sum.deliveries += one.deliveries;
    sum.flits += one.flits;
    sum.link_flits += one.link_flits;
    sum.latency += one.latency;
  }
  return sum;
}

Mesh::Mesh(const MeshShape &shape)
    : shape_(shape), routes_(std::size_t{shape.columns} * shape.rows), routers_(routes_.size()) {
  CHECK(!routes_.empty() && routes_.size() <= kMaxTiles);
  for (std::uint32_t router = 0; router < routers(); ++router) {
    const std::uint32_t x = router % shape_.columns;
    const std::uint32_t y = router / shape_.columns;
    MeshRoutes &routes = routes_[router];
    for (std::uint32_t tile = 0; tile < routers(); ++tile) {
      const std::uint32_t to_x = tile % shape_.columns;
      const std::uint32_t to_y = tile / shape_.columns;
      const std::uint64_t bit = std::uint64_t{1} << tile;
      if (to_x != x)
        routes.reached[to_x > x ? 0 : 1] |= bit;
      else if (to_y != y)
        routes.reached[to_y < y ? 2 : 3] |= bit;
    }
    const std::array<std::uint32_t, 4> behind = {router + 1, router - 1, router - shape_.columns,
                                                 router + shape_.columns};
    for (std::uint32_t port = 0; port < kLocalPort; ++port)
      routes.neighbour[port] = static_cast<std::uint8_t>(behind[port]);
  }
  if (shape_.credits)
    buffered_.emplace(shape_, routes_);
}

void Mesh::reset_statistics() {
  statistics_ = {};
  for (Router &router : routers_)
    router.flits = {};
  if (buffered_)
    buffered_->reset_statistics();
}

std::uint32_t Mesh::distance(std::uint32_t from, std::uint32_t to) const {
  return apart(from % shape_.columns, to % shape_.columns) +
         apart(from / shape_.columns, to / shape_.columns);
}

Cycle Mesh::zero_load_latency(std::uint32_t from, std::uint32_t to, std::uint32_t flits) const {
  return distance(from, to) * (shape_.router_cycles + shape_.link_cycles) + shape_.router_cycles +
         flits;
}

std::uint64_t Mesh::busiest_link() const {
  std::uint64_t most = 0;
  for (const Router &router : routers_)
    for (std::uint32_t port = 0; port < kLocalPort; ++port)
      most = std::max(most, router.flits[port]);
  return buffered_ ? buffered_->busiest_link() : most;
}

} // namespace tandem::machine
