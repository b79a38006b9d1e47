extern int shared;
void elsewhere(int n) { shared += n; }
