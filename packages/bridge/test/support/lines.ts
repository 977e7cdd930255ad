/** Reads stdin line by line as JSON, and writes lines of JSON: what every fake agent here needs. */
export async function* readMessages(): AsyncGenerator<Record<string, unknown>> {
  let rest = '';
  for await (const chunk of process.stdin) {
    rest += String(chunk);
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') yield JSON.parse(line) as Record<string, unknown>;
  }
}

/** Writes one line. */
export function write(message: object): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

/** Writes a line that no protocol knows, a huge one, and one that is no UTF-8. */
export function writeGarbage(): void {
  process.stdout.write('this is no JSON\n');
  process.stdout.write(`${'x'.repeat(1024 * 1024 + 1)}\n`);
  process.stdout.write(Buffer.from([0xff, 0xfe, 0x00, 0x0a]));
  process.stdout.write('{"neither":"request nor answer"}\n');
  process.stdout.write(`${'['.repeat(50_000)}${']'.repeat(50_000)}\n`);
}
