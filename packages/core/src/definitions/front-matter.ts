import { definitionLimits } from './definition-limit.ts';

/** One field of a front matter. Its value is whatever the text says: it has yet to be checked. */
export type Field = { name: string; line: number; value: unknown };

export type Complaint = { line: number; reason: string };

/** Reads YAML that is a list of fields. The edge brings the library, so that nobody loads it who has nothing to read. */
export type ReadYaml = (text: string) => { ok: true; fields: Field[] } | ({ ok: false } & Complaint);

export type FrontMatter = { ok: true; yaml: string; body: string } | ({ ok: false } & Complaint);

/** True for a text that begins as a definition must. */
export function hasFrontMatter(text: string): boolean {
  return /^\uFEFF?---[ \t]*(\r?\n|$)/.test(text);
}

/**
 * Takes a file apart at its `---` lines. The YAML keeps its place, with an empty line for the first `---`, so that the
 * library's line numbers are the file's.
 */
export function splitFrontMatter(text: string): FrontMatter {
  const complaint = complainAboutText(text);
  if (complaint !== null) return { ok: false, ...complaint };
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  const end = lines.findIndex((line, index) => index > 0 && /^---[ \t]*$/.test(line));
  if (end === -1) return { ok: false, line: 1, reason: 'the front matter has no closing `---` line' };
  const yaml = ['', ...lines.slice(1, end)].join('\n');
  if (yaml.length > definitionLimits.frontMatterBytes) {
    const reason = `the front matter has more than ${definitionLimits.frontMatterBytes} characters`;
    return { ok: false, line: 1, reason };
  }
  const body = lines.slice(end + 1).join('\n');
  return { ok: true, yaml, body: body.trim() };
}

function complainAboutText(text: string): Complaint | null {
  if (text.length > definitionLimits.fileBytes) {
    return { line: 1, reason: `the file has more than ${definitionLimits.fileBytes} bytes` };
  }
  const zero = text.indexOf('\0');
  if (zero !== -1) return { line: lineAt(text, zero), reason: 'the file has a NUL character, so it is not text' };
  if (text.trim() === '') return { line: 1, reason: 'the file is empty' };
  if (!hasFrontMatter(text)) return { line: 1, reason: 'the file does not start with a `---` line' };
  return null;
}

function lineAt(text: string, position: number): number {
  return text.slice(0, position).split('\n').length;
}

/**
 * Puts quotes around the plain one-line values that have a colon in them. Strict YAML refuses those, and many files that
 * were written for Claude have one in their description.
 */
export function quoteColons(yaml: string): string {
  const plain = /^([A-Za-z][\w-]*):[ \t]+([^\s"'[\]{}|>&*!#%@`,?-].*:.*)$/;
  return yaml
    .split('\n')
    .map((line) => line.replace(plain, (_, name: string, value: string) => `${name}: ${JSON.stringify(value.trim())}`))
    .join('\n');
}
