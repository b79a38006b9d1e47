// An address that a C++ stream writes, as bytes or as text, and std::istream reads.
// DEFINE: %{kind} =
// DEFINE: %{check} = %cxx -DKIND_%{kind} %s > %t.bc \
// DEFINE:     && env TANDEM_ENFORCE=none %tandem < %t.bc > %t.ll \
// DEFINE:     && %python %S/Inputs/edges.py %t.json | %FileCheck %s
// REDEFINE: %{kind} = block
// RUN: %{check}
// REDEFINE: %{kind} = characters
// RUN: %{check}
// REDEFINE: %{kind} = numbers
// RUN: %{check}
// REDEFINE: %{kind} = line
// RUN: %{check}
// REDEFINE: %{kind} = text
// RUN: %{check}
#include <cstring>
#include <pthread.h>
#include <sstream>
static long x;
static std::stringstream *stream;
static void make() {
  stream = new std::stringstream;
#if defined(KIND_text)
  *stream << static_cast<void *>(&x);
#else
  long *const address = &x;
  stream->write(reinterpret_cast<const char *>(&address), sizeof address);
#endif
}
static long *place() {
  stream->clear();
  stream->seekg(0);
#if defined(KIND_text)
  void *address;
  *stream >> address;
  return static_cast<long *>(address);
#else
  long *address;
  char *const bytes = reinterpret_cast<char *>(&address);
#if defined(KIND_block)
  stream->read(bytes, sizeof address);
#elif defined(KIND_line)
  std::string line;
  std::getline(*stream, line);
  std::memcpy(bytes, line.data(), sizeof address);
#else
  for (unsigned i = 0; i < sizeof address; ++i)
#if defined(KIND_characters)
    stream->get(bytes[i]);
#else
    bytes[i] = static_cast<char>(stream->get());
#endif
#endif
  return address;
#endif
}
extern "C" __attribute__((atomic)) void mine() { x++; }
extern "C" __attribute__((atomic)) void theirs() { ++*place(); }
static void *run(void *unused) {
  theirs();
  return unused;
}
int main() {
  pthread_t thread;
  make();
  pthread_create(&thread, nullptr, run, nullptr);
  mine();
  pthread_join(thread, nullptr);
}
// CHECK: edge mine{{.*}} theirs
