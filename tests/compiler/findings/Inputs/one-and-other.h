// A thread runs `one`, another one `other`; to be included at the end of a program that defines them.
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, one, 0);
  pthread_create(&thread, 0, other, 0);
  return 0;
}
