// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The timed system: cores' private caches, home slices, memory controllers and a network, all run
// by the tables of one protocol. The same tables are what the checker proves.
//
// A controller takes a message when its last flit has arrived; what a step sends leaves after the
// latency of the array that was read (L2 for a core, LLC for a home that sends data, directory for
// one that does not, DRAM and its channel for memory that sends data). Steps are atomic, and happen
// in the order of the event wheel, which is the order of scheduling within a cycle: a run depends
// on configuration, seed and client only.
//
// For one thread. Steady state: no allocation (all pools keep their largest size; block_store.h
// says when memory grows) and no virtual call.
//
// The parts: step.h (events and rows), rooms.h (making room), transport.h (messages), ahead.h (what
// cores may do without asking).
#pragma once

#include "machine/configuration/configuration.h"
#include "machine/network/mesh.h"
#include "machine/protocol/table.h"
#include "machine/timed/block_store.h"
#include "machine/timed/environment.h"
#include "machine/timed/failure.h"
#include "machine/timed/port.h"
#include "machine/timed/statistics.h"
#include "machine/timed/units.h"

#include <optional>
#include <string>
#include <vector>

namespace tandem::machine {

struct SystemOptions {
  std::uint64_t seed = 1;    // of the jitter and of random back-off
  bool check_values = false; // every load against the last store; keeps the last steps, too
  bool serve_fast = true;    // load hits without the table, where nothing is checked
  std::uint32_t tokens = 0;  // of a block; 0: what the protocol asks for
};

template <class P, class Client> class System {
public:
  using Protocol = P;
  using Core = typename P::Core;
  using Home = timed::OrNone<typename P::Home>;
  using Memory = timed::OrNone<typename P::Memory>;
  static constexpr bool kHasHome = !std::is_void_v<typename P::Home>;
  static constexpr bool kHasMemory = !std::is_void_v<typename P::Memory>;
  // Whether the tables can refuse what loses against a hardware transaction.
  static constexpr bool kRefuses =
      requires(typename P::Config config, Client client, System &system, Request request) {
        config.transactions;
        client.refusing(system, 0U, request, std::uint64_t{0});
      };
  template <class C>
  using UnitOf = std::conditional_t<
      std::is_same_v<C, Core>, timed::CoreUnit<C>,
      std::conditional_t<std::is_same_v<C, Home>, timed::HomeUnit<C>, timed::MemoryUnit<C>>>;
  template <class C> using EnvOf = timed::Env<System, C>;
  template <class C> using RowOf = machine::Row<EnvOf<C>, C>;
  using Event = typename P::Event;

  System(const Configuration &configuration, const typename P::Config &protocol,
         const SystemOptions &options, Client &client);
  System(const System &) = delete;
  System &operator=(const System &) = delete;

  // For clients.
  [[nodiscard]] Cycle now() const { return wheel_.now(); }
  [[nodiscard]] const Configuration &configuration() const { return configuration_; }
  Outcome access(unsigned core, const Request &request);
  // The cycle of the machine's next event, kNever if there is none.
  [[nodiscard]] Cycle next_event() const { return wheel_.next_time(); }
  // What the core may do with a block of its L1 without asking. Nothing where values are checked,
  // or where the policy of replacement has to be told of each use.
  [[nodiscard]] Quick quick(unsigned core, std::uint64_t block, bool fetch);
  // Whether a store of the core to the block hits its L1 and changes nothing but the bytes.
  [[nodiscard]] bool may_store(unsigned core, std::uint64_t block);
  // Hits that the client did by itself.
  void count_hits(std::uint64_t loads, std::uint64_t stores, std::uint64_t fetches) {
    statistics_.core.loads += loads;
    statistics_.core.stores += stores;
    statistics_.core.fetches += fetches;
    statistics_.core.l1_hits += loads + stores + fetches;
  }
  // The earliest cycle at which an event can reach this core, as long as no core issues anything
  // before it: arrivals that are known, and what the next event can bring.
  [[nodiscard]] Cycle horizon(unsigned core) const;
  // The fewest cycles from an access or an eviction of one core to where another notices.
  [[nodiscard]] Cycle issue_cycles() const;
  // The fewest from an event to an arrival that it causes.
  [[nodiscard]] Cycle step_cycles() const {
    return fast_ || P::kBus ? 1 : configuration_.network.router_cycles + 1;
  }
  // The block of the core's last load_reserved, if it still stands.
  [[nodiscard]] std::optional<std::uint64_t> reserved(unsigned core) const {
    return core_units_[core].reserved;
  }
  // It does no longer (a trap, another thread).
  void cancel_reservation(unsigned core);
  void skip_to(Cycle at) { wheel_.skip_to(at); }
  void wake_core(unsigned core, Cycle at) { schedule(at, {{}, core, Kind::core_step}); }
  // The core gives up its copy of a block, if it can now (cache management by software).
  bool flush(unsigned core, std::uint64_t block);

  // A device without a cache reads or writes the block, coherently; device_done() tells when, with
  // the tag. On a bus it waits for its turn, else the block's home is asked at once.
  void device(std::uint64_t block, Access access, std::uint32_t tag = 0);

  // While it is on, messages take a cycle and no links, and arrays and memory answer at once: every
  // step is the table's, only time is not simulated. For filling caches before what is measured.
  void fast_forward(bool on);

  // Runs at most `events` events; stops early when nothing is scheduled or stop() was called.
  // Result: how many ran.
  std::uint64_t run(std::uint64_t events);
  void stop() { stopped_ = true; }
  [[nodiscard]] bool stopped() const { return stopped_; }
  [[nodiscard]] bool idle() const { return wheel_.empty(); }
  // Accesses under way.
  [[nodiscard]] std::size_t pending() const { return pending_; }
  // One line for each access that is under way and each transaction: why the machine stands still.
  [[nodiscard]] std::string stuck() const;
  // The last steps for a block (all: kNoBlock), oldest first, where values are checked.
  [[nodiscard]] std::string history(std::uint64_t block) const;

  // What was counted since the last reset.
  [[nodiscard]] const Statistics &statistics() const { return statistics_; }
  [[nodiscard]] const Mesh &mesh() const { return mesh_; }
  void reset_statistics();
  [[nodiscard]] Cycle measured_cycles() const { return now() - measured_from_; }
  // How often each row of a controller was taken, in the table's order.
  template <class C> [[nodiscard]] const std::vector<std::uint64_t> &coverage() const;
  template <class C> [[nodiscard]] const Dispatch<EnvOf<C>, C> &table() const;
  // Sub-tables of a slice's filter now, on average; 0 where there are none.
  [[nodiscard]] double mean_sub_tables() const;
  // Members of a slice's filter now, on average; 0 without filters.
  [[nodiscard]] double mean_filter_members() const;
  // Of those, without a cell of their own (d-left).
  [[nodiscard]] double mean_filter_spilled() const;
  // Blocks that the private caches have missed since the start, and those that several cores' have.
  [[nodiscard]] std::uint64_t missed_blocks() const { return missed_blocks_; }
  [[nodiscard]] std::uint64_t shared_blocks() const { return shared_blocks_; }
  [[nodiscard]] std::size_t pool_sizes() const { return wheel_.pool_size() + packets_.size(); }

  // For the environment (timed/environment.h).
  [[nodiscard]] unsigned cores() const { return configuration_.cores; }
  [[nodiscard]] unsigned tokens() const { return tokens_; }
  [[nodiscard]] const typename P::Config &protocol_config() const { return protocol_; }
  template <class C> void send(const UnitOf<C> &unit, const Message &message, bool from_core);
  template <class C>
  void multicast(const UnitOf<C> &unit, CoreSet to, const Message &message, bool from_core);
  template <class C> void note_wake(const UnitOf<C> &unit, std::uint64_t block, Wake name);
  void perform(timed::CoreUnit<Core> &unit, std::uint64_t block, Access access, Data &data,
               AccessId id, bool from_core);
  void perform_device(std::uint64_t block, Access access, Data &data);
  [[nodiscard]] bool filter_member(std::uint64_t block) { return blocks_.at(block).member; }
  void filter_insert(timed::HomeUnit<Home> &unit, std::uint64_t block);
  void filter_remove(timed::HomeUnit<Home> &unit, std::uint64_t block);
  void request_bus(unsigned core, std::uint64_t block);
  void ask_for_bus(unsigned core, std::uint64_t block, std::uint8_t event);
  void snoop(Node self, std::uint64_t block, std::uint8_t event);
  [[nodiscard]] SnoopLines &lines() { return lines_; }
  [[nodiscard]] bool refuses(unsigned core, std::uint64_t block, Node requester) {
    if (P::kBus)
      return (refusing_ >> core & 1) != 0;
    return refused_by(requester, block, std::uint64_t{1} << core) != 0;
  }
  [[nodiscard]] bool transactional(AccessId access) const {
    return access != kNoAccess && accesses_[access].request.transactional;
  }
  [[nodiscard]] bool marked(unsigned core, std::uint64_t block) {
    if constexpr (kRefuses)
      return client_.marked(*this, core, block);
    else
      return false;
  }
  void abandon(timed::CoreUnit<Core> &unit, std::uint64_t block, AccessId id);
  template <class U> void arm_timer(U &unit, std::uint64_t block);

  // For the mesh.
  void hop(Cycle at, const Hop &next) { schedule(at, {next, 0, Kind::hop}); }
  void delivery(Cycle at, std::uint32_t packet, std::uint32_t tile) {
    Hop where;
    where.router = static_cast<std::uint16_t>(tile & 63U);
    if (packets_[packet].targets != 0 || packets_[packet].message.dst.is_core())
      core_units_[tile].arrivals.push_back(at);
    schedule(at, {where, packet, Kind::deliver});
  }

private:
  static constexpr std::uint64_t kNoBlock = ~std::uint64_t{0};
  static constexpr std::size_t kHistory = 512; // steps

  enum class Kind : std::uint8_t {
    hop,
    deliver,
    inject,
    core_step,
    complete,
    timer,
    grant,
    bus_request,
    window // of a reservation ends
  };
  struct Happening {
    Hop hop;
    std::uint32_t data = 0; // a packet, a core, an access, by kind
    Kind kind = Kind::hop;
  };
  static_assert(sizeof(Happening) == 24);

  struct Packet {
    Message message;
    std::uint64_t targets = 0; // cores of a multicast; 0: message.dst alone
    std::uint32_t left = 0;    // deliveries
    std::uint32_t next = 0;    // in the free list
    std::uint32_t tile = 0;    // where it starts
  };
  struct Pending {
    Request request;
    Cycle since = 0;
    std::uint16_t core = 0;
    bool direct = false; // access() is waiting for the answer itself
    bool performed = false;
    Completion done;
    AccessId next = kNoAccess; // in the free list
  };
  // The latest reads of memory, by their blocks: of misses under way, of which there are far fewer
  // than places. Blocks of one place replace each other.
  struct MemoryRead {
    std::uint64_t block = ~std::uint64_t{0};
    Cycle at = 0;
  };
  static constexpr std::size_t kMemoryReads = 1 << 14;
  MemoryRead &memory_read(std::uint64_t block) {
    return memory_reads_[(block * 0x9e3779b97f4a7c15ULL) >> (64 - 14)];
  }
  std::vector<MemoryRead> memory_reads_ = std::vector<MemoryRead>(kMemoryReads);
  static constexpr std::uint8_t kSeveral = 0xff;
  // Of a block of memory. There are millions: what is in it counts.
  struct Record {
    // The home's line, if the home has no array for it.
    [[no_unique_address]] std::conditional_t<timed::line_stays<Home>(), typename Home::Line,
                                             timed::Nothing> home{};
    typename Memory::Line memory{};
    std::uint32_t last_store = 1; // the first data's number is 1
    bool member = false;          // of the filter
    std::uint8_t missed_by = 0;   // 0: by no core so far; core + 1; kSeveral
  };
  struct PendingWake {
    Role role;
    Wake name;
    std::uint32_t unit;
    std::uint64_t block;
  };
  struct BusRequest {
    Cycle since;
    std::uint64_t block;
    unsigned core; // or the event of a device, over kDeviceOnBus
  };
  static constexpr unsigned kDeviceOnBus = 256;
  struct Step { // for the history
    Cycle at;
    std::uint64_t block;
    Role role;
    std::uint8_t event, line, tbe, next_line, next_tbe;
    std::uint16_t unit;
    Message message;
  };

  void schedule(Cycle at, const Happening &what) { wheel_.schedule(at, what); }
  void dispatch(const Happening &what);
  void open_window(timed::CoreUnit<Core> &unit);
  void close_window(timed::CoreUnit<Core> &unit);
  [[nodiscard]] bool holds_back(const timed::CoreUnit<Core> &unit, const Message &message) const;
  void arrived(timed::CoreUnit<Core> &unit);
  bool tell_perform(unsigned core, const Request &request);
  void end_access(timed::CoreUnit<Core> &unit, AccessId id);
  std::uint64_t refused_by(Node requester, std::uint64_t block, std::uint64_t asked);
  void tell_outcome(Node self);
  void tell_evicted(unsigned core, std::uint64_t block) {
    if constexpr (requires { client_.evicted(*this, core, block); })
      client_.evicted(*this, core, block);
  }
  void tell_lost(const timed::CoreUnit<Core> &unit, std::uint64_t block);
  bool perform_quickly(timed::CoreUnit<Core> &unit, std::uint32_t line, const Request &request);
  void expire(const Happening &what);
  std::uint64_t random();

  // step.h
  enum class Progress : std::uint8_t { taken, parked };
  template <class C>
  void handle(UnitOf<C> &unit, std::uint64_t block, std::uint8_t event, const Message &message,
              AccessId access, bool from_core, std::uint64_t waits_for = kNoBlock);
  template <class C>
  Progress step(UnitOf<C> &unit, std::uint64_t block, std::uint8_t event, const Message &message,
                AccessId access, bool from_core, std::uint64_t waits_for = kNoBlock);
  template <class C> void take_row(EnvOf<C> &env, const RowOf<C> &row, std::uint8_t event);
  template <class C> void run_raised(EnvOf<C> &env);
  template <class C> void load_state(EnvOf<C> &env);
  template <class C> void store_state(EnvOf<C> &env, bool evicted_line, bool evicted_llc);
  void store_line(EnvOf<Core> &env, bool evicted);
  void store_entry(EnvOf<Home> &env, bool evicted_line, bool evicted_llc);
  template <class C> void count_step(const EnvOf<C> &env, std::uint8_t event);
  void drain_wakes();
  template <class C> void retry(UnitOf<C> &unit, std::uint64_t block, Wake name);
  template <class C>
  [[noreturn]] void hole(EnvOf<C> &env, std::uint8_t event, const std::string &what);
  [[noreturn]] void fail(const std::string &what, std::uint64_t block) const;
  template <class C>
  void remember(const EnvOf<C> &env, std::uint8_t event, unsigned line, unsigned tbe);
  template <class C> [[nodiscard]] std::string unit_name(const UnitOf<C> &unit) const;
  template <class C> void report_unit(std::string &text, const UnitOf<C> &unit) const;
  bool cached(const typename Core::Line &line, const typename Core::Tbe &tbe, Access access) const {
    return access == Access::load ? Core::readable(line, tbe) : Core::writable(line, tbe);
  }

  // rooms.h
  template <class C> bool make_room(EnvOf<C> &env, unsigned needs, std::uint64_t &waits_for);
  bool room_for_way(EnvOf<Core> &env, std::uint64_t &waits_for);
  template <class Array>
  bool room_in(EnvOf<Home> &env, Array &array, std::uint8_t event, std::uint64_t &waits_for);
  template <class Array>
  typename Array::Index victim_in(EnvOf<Home> &env, Array &array, std::uint8_t event);
  typename PrivateCaches<typename Core::Line>::Place
  admit(timed::CoreUnit<Core> &unit, std::uint64_t block, bool fetch, std::uint64_t &waits_for);
  template <class C>
  bool may_give_way(UnitOf<C> &unit, std::uint64_t block, std::uint8_t event, std::uint32_t quick,
                    unsigned state);
  template <class C> void evict(UnitOf<C> &unit, std::uint64_t block, std::uint8_t event);
  void purge(timed::CoreUnit<Core> &unit, const Message &message);
  void repartition(timed::HomeUnit<Home> &unit, filter::Move move);
  bool empty_way(timed::HomeUnit<Home> &unit);

  // transport.h
  template <class C> void depart(const UnitOf<C> &unit, std::uint32_t packet, bool from_core);
  template <class C> Cycle departure(const UnitOf<C> &unit, bool has_data, bool from_core);
  Cycle channel(timed::MemoryUnit<Memory> &unit);
  std::uint32_t take_packet(const Message &message);
  void drop_packet(std::uint32_t packet);
  [[nodiscard]] std::uint32_t tile_of(const Message &message) const;
  void deliver_at(Cycle at, std::uint32_t packet);
  void inject(std::uint32_t packet);
  void deliver(std::uint32_t packet, std::uint32_t tile);
  void receive(const Message &message);
  void grant_bus();
  void grant_device(const BusRequest &request);
  void come_again(const BusRequest &request);
  void plan_grant();
  [[nodiscard]] std::uint32_t home_of(std::uint64_t block) const {
    return static_cast<std::uint32_t>(block % slices_);
  }
  [[nodiscard]] std::uint32_t controller_of(std::uint64_t block) const {
    return static_cast<std::uint32_t>((block / 64) % configuration_.memory.controllers);
  }

  template <class C> UnitOf<C> &unit_of(std::uint32_t number) {
    if constexpr (std::is_same_v<C, Core>)
      return core_units_[number];
    else if constexpr (std::is_same_v<C, Home>)
      return home_units_[number];
    else
      return memory_units_[number];
  }
  template <class C> static constexpr Role role_of() {
    if constexpr (std::is_same_v<C, Core>)
      return Role::core;
    else if constexpr (std::is_same_v<C, Home>)
      return Role::home;
    else
      return Role::memory;
  }

  AccessId take_access(unsigned core, const Request &request);
  void release_access(AccessId id);
  void prepare_tables();

  Configuration configuration_;
  typename P::Config protocol_;
  SystemOptions options_;
  unsigned tokens_;
  std::uint32_t slices_;
  Client &client_;
  EventWheel<Happening> wheel_;
  Mesh mesh_;
  BlockStore<Record> blocks_;
  std::vector<timed::CoreUnit<Core>> core_units_;
  std::vector<timed::HomeUnit<Home>> home_units_;
  std::vector<timed::MemoryUnit<Memory>> memory_units_;

  // The tables, how often their rows were taken, and which line states give way without a look at
  // guards (bit: state).
  template <class C, bool kThere> struct Tables {
    Dispatch<EnvOf<C>, C> dispatch;
    std::vector<std::uint64_t> taken;
  };
  template <class C> struct Tables<C, false> {};
  Tables<Core, true> core_tables_;
  Tables<Home, kHasHome> home_tables_;
  Tables<Memory, kHasMemory> memory_tables_;
  template <class C> auto &tables_of() {
    if constexpr (std::is_same_v<C, Core>)
      return core_tables_;
    else if constexpr (std::is_same_v<C, Home>)
      return home_tables_;
    else
      return memory_tables_;
  }
  std::uint64_t missed_blocks_ = 0;
  std::uint64_t shared_blocks_ = 0;
  std::uint32_t quick_evict_ = 0;
  std::uint32_t quick_store_ = 0; // states in which a store does nothing but store

  std::vector<Packet> packets_;
  std::uint32_t free_packet_ = ~std::uint32_t{0};
  std::vector<Pending> accesses_;
  AccessId free_access_ = kNoAccess;
  std::size_t pending_ = 0;
  std::vector<PendingWake> wakes_;
  std::vector<Parked> batch_;
  unsigned depth_ = 0; // of steps within steps
  std::uint32_t stores_ = 1;
  std::uint64_t random_state_;
  bool stopped_ = false;
  bool fast_ = false; // see fast_forward()

  SnoopLines lines_;
  // Cores whose transactions refuse the request that the bus has been granted for.
  std::uint64_t refusing_ = 0;
  bool asked_ = false;                // the client has been asked for them
  std::vector<BusRequest> bus_queue_; // first come, first served; as long as the misses under way
  // Refused ones that will come again. The first of a block goes before all others for it: else
  // cores that pass a block on among themselves could refuse another one for ever.
  std::vector<BusRequest> refused_;
  bool grant_planned_ = false;
  Cycle grant_at_ = 0;                // of the planned one
  std::vector<DeviceAccess> devices_; // under way, in the order in which they were asked for
  Cycle bus_free_ = 0;
  Cycle data_bus_free_ = 0;

  Statistics statistics_;
  Cycle measured_from_ = 0;
  std::vector<Step> history_;
  std::size_t history_next_ = 0;
};

} // namespace tandem::machine

#include "machine/timed/ahead.h"
#include "machine/timed/rooms.h"
#include "machine/timed/step.h"
#include "machine/timed/system_core.h"
#include "machine/timed/transport.h"
