import { definitionLimits } from './definition-limit.ts';

/** One field of a front matter, not validated yet. */
export type Field = { name: string; line: number; value: unknown };

export type Complaint = { line: number; reason: string };

/** Parses YAML into a list of fields. Injected by the edge, so that the library loads only when needed. */
export type ReadYaml = (text: string) => { ok: true; fields: Field[] } | ({ ok: false } & Complaint);

export type FrontMatter = { ok: true; yaml: string; body: string } | ({ ok: false } & Complaint);

export function hasFrontMatter(text: string): boolean {
  return /^\uFEFF?---[ \t]*(\r?\n|$)/.test(text);
}

/**
 * Splits a file at its `---` lines. The YAML keeps its position, with an empty line for the first `---`, so that line
 * numbers match the file.
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
 * Quotes plain one-line values that contain a colon. Strict YAML rejects those, and many files written for Claude have
 * one in their description.
 */
export function quoteColons(yaml: string): string {
  const plain = /^([A-Za-z][\w-]*):[ \t]+([^\s"'[\]{}|>&*!#%@`,?-].*:.*)$/;
  return yaml
    .split('\n')
    .map((line) => line.replace(plain, (_, name: string, value: string) => `${name}: ${JSON.stringify(value.trim())}`))
    .join('\n');
}
