import { readCommit } from './commit-object.ts';
import type { Repository } from './repository.ts';

/** The first paragraph of a commit's message as one line, like git's subject; empty if it has none. */
export async function commitSubject(repository: Repository, ownDir: string, commit: string): Promise<string> {
  const { message, encoding } = await readCommit(repository, ownDir, commit);
  const text = decode(Buffer.from(message, 'latin1'), encoding);
  const [paragraph = ''] = text.replace(/^\s+/, '').split(/\n[ \t\r]*\n/, 1);
  return paragraph
    .split('\n')
    .map((line) => line.trim())
    .join(' ')
    .trim();
}

function decode(bytes: Buffer, encoding: string | null): string {
  try {
    return new TextDecoder(encoding ?? 'utf-8').decode(bytes);
  } catch {
    return bytes.toString('utf8');
  }
}
