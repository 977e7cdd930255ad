import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createDefinitions } from '../../src/definitions/definitions.ts';

/** A markdown file with these fields, one per line. JSON is YAML too. */
export function markdown(fields: Record<string, unknown>, body = 'Do it.'): string {
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return ['---', ...lines, '---', '', body, ''].join('\n');
}

/** A home without definitions and a repository with an empty `.pawl/agents`. */
export function aPlace(path: string, given: Partial<Parameters<typeof createDefinitions>[0]> = {}) {
  const [builtIn, user, root] = ['built-in', 'user', 'repository'].map((name) => join(path, name)) as [
    string,
    string,
    string,
  ];
  const folder = join(root, '.pawl', 'agents');
  for (const directory of [builtIn, user, folder, join(root, '.git')]) mkdirSync(directory, { recursive: true });
  const write = (file: string, text: string | Buffer) => {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  };
  return {
    builtIn,
    user,
    folder,
    project: { id: 'project', root },
    definitions: createDefinitions({ builtIn, user, isTrusted: () => false, ...given }),
    /** Writes a file of `.pawl/agents`. */
    put: (name: string, text: string | Buffer) => write(join(folder, name), text),
    /** Writes any file of the place. */
    write,
  };
}
