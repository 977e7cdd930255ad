/** The processor time that some work takes. Unlike the time that passes, it hardly depends on how busy the machine is. */
export function processorMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  return process.cpuUsage(before).user / 1_000;
}
