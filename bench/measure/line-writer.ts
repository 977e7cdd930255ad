import { appendFileSync } from 'node:fs';

export type WriterTask = { file: string; linesPerSecond: number; seconds: number };

const burstMs = 5;

/** Appends lines at a steady pace, a few at a time, each with its timestamp. */
function writeLines({ file, linesPerSecond, seconds }: WriterTask): void {
  const total = linesPerSecond * seconds;
  const start = performance.now();
  let written = 0;
  const timer = setInterval(() => {
    const due = Math.min(total, Math.floor(((performance.now() - start) * linesPerSecond) / 1_000));
    if (due > written) {
      const line = stampedLine(process.hrtime.bigint());
      appendFileSync(file, line.repeat(due - written));
      written = due;
    }
    if (written === total) clearInterval(timer);
  }, burstMs);
}

function stampedLine(now: bigint): string {
  return `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"sent ${now}"}]}}\n`;
}

writeLines(JSON.parse(process.argv[2] ?? '') as WriterTask);
