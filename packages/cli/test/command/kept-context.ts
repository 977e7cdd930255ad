import { homeAt } from '@pawl/protocol/node/home';
import type { CommandContext } from '../../src/context.ts';
import { palette } from '../../src/terminal/palette.ts';

/** A context that keeps what a command prints, for commands that need no daemon. */
export function keptContext(home: string, { json = false }: { json?: boolean } = {}) {
  const kept = { texts: [] as string[], data: [] as unknown[], said: [] as string[] };
  const print = (_kind: string, data: unknown, text: () => string | null) => {
    kept.data.push(data);
    const line = json ? null : text();
    if (line !== null) kept.texts.push(line);
  };
  const context: CommandContext = {
    home: homeAt(home),
    json,
    quiet: false,
    colours: palette({}),
    columns: 80,
    answer: print,
    record: print,
    say: (text) => void kept.said.push(text),
  };
  return { context, ...kept };
}
