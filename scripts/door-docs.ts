import { accessByRoute } from '@pawl/protocol/routes';
import type { Access, Needs } from '@pawl/schema/access';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const entries = accessByRoute();

/** The marks in docs/definitions.md around the output of `doorTables`. */
export const doorMarks = ['<!-- doors -->', '<!-- /doors -->'] as const;

/** The requirements of each route, as printed in docs/definitions.md. */
export function doorTables(): string {
  const gated = entries.filter(
    ([, { agents, also, needs }]) => agents === 'main' || also !== undefined || asksFor(needs),
  );
  const rest = entries.filter(([name]) => !gated.some(([gatedName]) => gatedName === name));
  const rows = gated.map(([name, access]) => `| ${access.does} | \`${name}\` | ${needsOf(access)} | ${access.row} |`);
  const named = (agents: Access['agents']) =>
    rest.flatMap(([name, access]) => (access.agents === agents ? [`\`${name}\``] : [])).join(', ');
  return [
    '| what | route | its definition needs | rows |',
    '| - | - | - | - |',
    ...rows,
    '',
    `No action is needed for these, each for an agent’s own or its own project’s: ${named('any')}.`,
    '',
    `These are for people only: ${named('none')}.`,
  ].join('\n');
}

function asksFor({ actions, hears }: Needs): boolean {
  return actions.length > 0 || hears !== undefined;
}

function needsOf({ agents, needs, also }: Access): string {
  const kind = agents === 'main' ? ['kind `main`'] : [];
  const base = [...kind, ...words(needs)].join(', ') || 'nothing';
  return also === undefined ? base : `${base}; when ${also.when}: ${words(also.needs).join(', ')}`;
}

function words({ actions, hears }: Needs): string[] {
  const named = actions.map((oneOf) => oneOf.map((action) => `\`${action}\``).join(' or '));
  return hears === undefined ? named : [...named, `\`hears: [${hears}]\``];
}

if (process.argv[1] === import.meta.filename) {
  const path = join(import.meta.dirname, '..', 'docs', 'definitions.md');
  const page = readFileSync(path, 'utf8');
  const [begin, end] = doorMarks;
  const [before, after] = [page.split(begin)[0] ?? '', page.split(end)[1] ?? ''];
  writeFileSync(path, `${before}${begin}\n\n${doorTables()}\n\n${end}${after}`);
}
