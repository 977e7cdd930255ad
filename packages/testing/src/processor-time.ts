/** The processor time of some work. Unlike wall time, it hardly depends on the machine's load. */
export function processorMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  return process.cpuUsage(before).user / 1_000;
}
