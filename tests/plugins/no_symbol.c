/* A shared object that is no engine. */
int precfuzz_other(void);

int precfuzz_other(void)
{
  return 0;
}
