// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/trace/trace.h"

#include "machine/trace/foreign.h"

#include <bit>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <unistd.h>

namespace tandem::machine {

static_assert(std::endian::native == std::endian::little, "records are written as they are");

Result<TraceWriter> TraceWriter::create(const std::string &path, std::uint32_t cores, bool text) {
  TraceWriter writer(path);
  writer.text_ = text;
  writer.output_ = std::make_unique<OutputFile>();
  int error = writer.output_->find(path.c_str());
  if (error == 0)
    error = writer.output_->begin(false);
  if (error == 0) {
    writer.file_.reset(::fdopen(::dup(writer.output_->descriptor()), "wb"));
    error = writer.file_ == nullptr ? errno : 0;
  }
  if (error != 0)
    return Error{fmt::format("{}: cannot be written: {}", path, output_error(error))};
  if (text) {
    const std::string first = text_header(cores);
    writer.write(first.data(), first.size());
    return writer;
  }
  TraceHeader header;
  header.cores = cores;
  writer.write(&header, sizeof header);
  return writer;
}

void TraceWriter::write(const void *record, std::size_t bytes) {
  if (error_ == 0 && std::fwrite(record, bytes, 1, file_.get()) != 1)
    error_ = errno;
}

void TraceWriter::add(unsigned core, const Operation &operation) {
  if (text_) {
    const std::string line = to_text_line(core, operation);
    return write(line.data(), line.size());
  }
  TraceRecord record;
  record.address = operation.block * 64;
  record.gap = operation.gap;
  record.core = static_cast<std::uint16_t>(core);
  record.kind = static_cast<std::uint8_t>(operation.kind);
  record.flags = operation.dependent ? 1 : 0;
  write(&record, sizeof record);
}

Status TraceWriter::close() {
  if (std::fclose(file_.release()) != 0 && error_ == 0)
    error_ = errno;
  const int error = error_ != 0 ? error_ : output_->commit();
  output_.reset();
  return error == 0 ? Status(Unit{})
                    : Error{fmt::format("{}: cannot be written: {}", path_, output_error(error))};
}

Result<TraceReader> TraceReader::open(const std::string &path, std::uint32_t cores) {
  TraceReader reader;
  reader.path_ = path;
  reader.file_.reset(std::fopen(path.c_str(), "rb"));
  if (reader.file_ == nullptr)
    return Error{fmt::format("{}: cannot be read: {}", path, std::strerror(errno))};
  TraceHeader header;
  if (std::fread(&header, sizeof header, 1, reader.file_.get()) != 1 || header.magic != kTraceMagic)
    return Error{
        fmt::format("{}: is not a trace of accesses (its first bytes are not TNDMTRC); `tandem "
                    "machine trace --from FORMAT` makes one of other traces",
                    path)};
  if (header.version != kTraceVersion)
    return Error{fmt::format("{}: is a trace of version {}; this program reads version {}", path,
                             header.version, kTraceVersion)};
  if (header.cores == 0 || header.cores > cores)
    return Error{fmt::format("{}: has the accesses of {} cores, the machine has {}; use --set "
                             "cores=N",
                             path, header.cores, cores)};
  reader.waiting_.resize(cores);
  reader.traced_cores_ = header.cores;
  return reader;
}

bool TraceReader::next(unsigned core, Operation &operation) {
  Queue &queue = waiting_[core];
  while (queue.head == queue.operations.size()) {
    queue.operations.clear();
    queue.head = 0;
    if (core >= traced_cores_ || !read_block())
      return false;
  }
  operation = queue.operations[queue.head++];
  return true;
}

bool TraceReader::read_block() {
  constexpr std::size_t kRecords = 4096;
  if (!error_.empty())
    return false;
  buffer_.resize(kRecords);
  const std::size_t bytes =
      std::fread(buffer_.data(), 1, kRecords * sizeof(TraceRecord), file_.get());
  const std::size_t count = bytes / sizeof(TraceRecord);
  if (std::ferror(file_.get()) != 0)
    error_ = fmt::format("{}: cannot be read: {}", path_, std::strerror(errno));
  else if (bytes % sizeof(TraceRecord) != 0)
    error_ = fmt::format("{}: ends within record {}", path_, records_ + count);
  for (std::size_t i = 0; i < count; ++i, ++records_) {
    const TraceRecord &record = buffer_[i];
    if (record.core >= traced_cores_ ||
        record.kind > static_cast<std::uint8_t>(RequestKind::store_conditional)) {
      error_ = fmt::format("{}: record {} has core {} and kind {}; cores are below {}, kinds below "
                           "{}",
                           path_, records_, record.core, record.kind, traced_cores_,
                           static_cast<int>(RequestKind::store_conditional) + 1);
      return false;
    }
    waiting_[record.core].operations.push_back({record.address / 64, record.gap,
                                                static_cast<RequestKind>(record.kind),
                                                (record.flags & 1) != 0});
  }
  return count != 0;
}

} // namespace tandem::machine
