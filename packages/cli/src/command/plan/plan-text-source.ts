import { markdownOf } from '@pawl/present/plan/tiptap';
import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readText } from '../../terminal/standard-input.ts';

export type TextSource = {
  file?: string;
  issue?: number;
  directory: string;
  /** The text is a document of Tiptap, in JSON. */
  tiptap?: boolean;
};

/** A text as `textFrom` finds it, turned into markdown if it is a document of Tiptap. */
export async function markdownFrom(
  words: readonly string[],
  source: TextSource,
): Promise<{ text: string; name?: string }> {
  const found = await textFrom(words, source);
  return source.tiptap === true ? { ...found, text: await fromTiptap(found.text) } : found;
}

async function fromTiptap(text: string): Promise<string> {
  const { tiptapSchema } = await import('@pawl/schema/plan/tiptap');
  try {
    return markdownOf(tiptapSchema.parse(JSON.parse(text)));
  } catch (error) {
    throw new PawlError('invalid_input', 'The text is no document of Tiptap in JSON.', { cause: error });
  }
}

/** A text from words, a file, an issue, stdin (`-`) or, if nothing is given on a terminal, the editor. */
async function textFrom(words: readonly string[], source: TextSource): Promise<{ text: string; name?: string }> {
  if (source.issue !== undefined) return issueText(source.issue, source.directory);
  if (source.file !== undefined) return { text: fileText(source.file) };
  if (words.length === 1 && words[0] === '-') return { text: await readText() };
  if (words.length > 0) return { text: words.join(' ') };
  if (process.stdin.isTTY) return { text: editText('') };
  throw new PawlError('usage', 'No text given.', {
    hint: 'Say what you want: pawl plan new "…"; or use --file, --issue, or - for stdin.',
  });
}

function fileText(path: string): string {
  try {
    if (statSync(path).size > limits.taskBytes)
      throw new PawlError('too_large', `${path} has more than ${limits.taskBytes} bytes.`);
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof PawlError) throw error;
    throw new PawlError('invalid_input', `Cannot read ${path}.`, { cause: error, hint: 'Name a text file.' });
  }
}

/** Lets a person edit a text in their editor. */
export function editText(before: string): string {
  const editor = process.env['VISUAL'] || process.env['EDITOR'];
  if (editor === undefined || editor === '') {
    throw new PawlError('usage', 'No text given, and no editor is set.', {
      hint: 'Set EDITOR, or give the text in quotes, with --file, or with - for stdin.',
    });
  }
  const directory = mkdtempSync(join(tmpdir(), 'pawl-plan-'));
  try {
    const path = join(directory, 'plan.md');
    writeFileSync(path, before, { mode: 0o600 });
    // The variable is a command line, as for git.
    const { status } = spawnSync('sh', ['-c', `${editor} "$1"`, 'editor', path], { stdio: 'inherit' });
    if (status !== 0) throw new PawlError('usage', 'The editor failed; nothing was changed.');
    return readFileSync(path, 'utf8');
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The text of a GitHub issue, through the person's own `gh`. */
export async function issueText(issue: number, directory: string): Promise<{ text: string; name: string }> {
  const words = ['issue', 'view', String(issue), '--json', 'title,body,url'];
  try {
    const { stdout } = await promisify(execFile)('gh', words, { cwd: directory, maxBuffer: limits.taskBytes * 2 });
    const { title, body, url } = issueOf(JSON.parse(stdout));
    return { text: `# ${title}\n\n${body}\n\n${url}\n`, name: title.slice(0, limits.taskNameCharacters) };
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    throw new PawlError('unavailable', isMissing ? 'gh is not installed.' : `gh could not read the issue ${issue}.`, {
      cause: error,
      hint: isMissing ? 'Install GitHub’s gh, or give the text with --file.' : 'Try `gh issue view` in the repository.',
    });
  }
}

/** Checks the answer of `gh`. Not with zod: commands load it for nothing else. */
function issueOf(answer: unknown): Record<'title' | 'body' | 'url', string> {
  const fields = (answer ?? {}) as Record<string, unknown>;
  const text = (name: string) => {
    const value = fields[name];
    if (typeof value !== 'string') throw new TypeError(`the issue has no ${name}`);
    return value;
  };
  return { title: text('title'), body: text('body'), url: text('url') };
}
