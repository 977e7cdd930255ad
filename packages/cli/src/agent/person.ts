/** A person to ask: only if both ends are a terminal. */
export type Person = { present: boolean; ask(question: string): Promise<string> };

export function atTerminal(): Person {
  return { present: (process.stdin.isTTY && process.stdout.isTTY) ?? false, ask };
}

/** Asks one question. The terminal keeps its mode, so Ctrl-C ends the program; no answer is an empty one. */
async function ask(question: string): Promise<string> {
  const { createInterface } = await import('node:readline');
  process.stderr.write(question);
  const lines = createInterface({ input: process.stdin, terminal: false });
  return new Promise((resolve) => {
    lines.once('line', (line) => {
      resolve(line);
      lines.close();
    });
    lines.once('close', () => resolve(''));
  });
}

export function agrees(answer: string): boolean {
  return /^y(es)?$/i.test(answer.trim());
}
