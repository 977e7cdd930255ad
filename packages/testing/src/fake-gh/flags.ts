import { Complaint, usage } from './answer.ts';

export type FlagKind = 'text' | 'list' | 'number' | 'switch';
/** The flags of a command; the short name, if any, after a comma: `{'repo,R': 'text'}`. */
export type FlagTable = Record<string, FlagKind>;

export type Flags = {
  words: string[];
  text(name: string): string | undefined;
  list(name: string): string[];
  number(name: string): number | undefined;
  has(name: string): boolean;
};

/** Parses arguments like `gh`: unknown flags, and missing or wrong values, are errors. */
export function readFlags(command: string, table: FlagTable, rest: readonly string[]): Flags {
  const kinds = new Map<string, FlagKind>();
  const shorts = new Map<string, string>();
  for (const [key, kind] of Object.entries(table)) {
    const [name = '', short] = key.split(',');
    kinds.set(name, kind);
    if (short !== undefined) shorts.set(short, name);
  }
  const words: string[] = [];
  const values = new Map<string, string[]>();
  for (let index = 0; index < rest.length; index += 1) {
    const word = rest[index] ?? '';
    if (!word.startsWith('-') || word === '-') {
      words.push(word);
      continue;
    }
    const { name, value } = split(word, shorts, command);
    const kind = kinds.get(name);
    if (kind === undefined) throw usage(`unknown flag: --${name}`, command);
    if (kind === 'switch') {
      values.set(name, [value ?? 'true']);
      continue;
    }
    const given = value ?? rest[(index += 1)];
    if (given === undefined) throw usage(`flag needs an argument: --${name}`, command);
    if (kind === 'number' && !/^\d+$/.test(given)) {
      const reason = `strconv.ParseInt: parsing "${given}": invalid syntax`;
      throw usage(`invalid argument "${given}" for "--${name}" flag: ${reason}`, command);
    }
    const parts = kind === 'list' ? given.split(',') : [given];
    values.set(name, kind === 'list' ? [...(values.get(name) ?? []), ...parts] : parts);
  }
  return {
    words,
    text: (name) => values.get(name)?.at(-1),
    list: (name) => values.get(name) ?? [],
    number: (name) => (values.has(name) ? Number(values.get(name)?.at(-1)) : undefined),
    has: (name) => values.has(name) && values.get(name)?.at(-1) !== 'false',
  };
}

function split(word: string, shorts: Map<string, string>, command: string): { name: string; value?: string } {
  if (word.startsWith('--')) {
    const [, name = '', value] = /^--([^=]*)(?:=([\s\S]*))?$/.exec(word) ?? [];
    return value === undefined ? { name } : { name, value };
  }
  const name = shorts.get(word.slice(1, 2));
  if (name === undefined) throw usage(`unknown shorthand flag: '${word.slice(1, 2)}' in ${word}`, command);
  const value = word.slice(2).replace(/^=/, '');
  return value === '' ? { name } : { name, value };
}

/** Refuses an unknown field, and lists all of them. */
export function checkFields(fields: readonly string[], all: readonly string[]): void {
  const unknown = fields.find((field) => !all.includes(field));
  if (unknown === undefined) return;
  throw new Complaint(`Unknown JSON field: "${unknown}"\nAvailable fields:\n  ${all.toSorted().join('\n  ')}`);
}

/** The requested fields of a record. */
export function exportFields<Field extends string>(
  fields: readonly string[],
  all: readonly Field[],
  valueOf: (field: Field) => unknown,
): Record<string, unknown> {
  const known = all.filter((field) => fields.includes(field));
  return Object.fromEntries(known.map((field) => [field, valueOf(field)]));
}
