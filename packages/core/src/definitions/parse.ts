import type { Definition } from '@pawl/schema/definition';
import type { DefinitionFile, Layer, Notice, Problem } from './definition-file.ts';
import { checkName, quoted, wordOf, WrongValue } from './field-value.ts';
import type { Field, ReadYaml } from './front-matter.ts';
import { hasFrontMatter, quoteColons, splitFrontMatter } from './front-matter.ts';
import { applyField, fieldWord, isIgnored, isKnown } from './fields.ts';

/**
 * The conventions of a file. `pawl`: our own. `shared`: from a folder that other programs use, so it is ours only if it
 * states a kind. `claude`: written for Claude, where all such agents are subagents. `multiclaude`: may lack front
 * matter, and is all prompt then.
 */
export type Flavour = 'pawl' | 'shared' | 'claude' | 'multiclaude';

export type Origin = { path: string; layer: Layer; flavour: Flavour; sha256: string };

/** A valid file, a broken one, or (with a null problem) a file that is not ours. */
export type Parsed = { ok: true; file: DefinitionFile } | { ok: false; problem: Problem | null };

/** Default tools of a definition: enough to look around, too little to do harm. */
const readOnlyTools = ['Read', 'Glob', 'Grep'];

/** Parses one definition file into a file or a reason with its line. Never throws, whatever the text. */
export function parseDefinition(text: string, origin: Origin, readYaml: ReadYaml): Parsed {
  const isShared = origin.flavour === 'shared';
  if (isShared && !hasFrontMatter(text)) return { ok: false, problem: null };
  const broken = (line: number, reason: string, id = stemOf(origin.path)): Parsed => ({
    ok: false,
    problem: { path: origin.path, line, reason, id },
  });
  const isBare = origin.flavour === 'multiclaude' && text.trim() !== '' && !hasFrontMatter(text);
  const split = splitFrontMatter(isBare ? `---\n---\n${text}` : text);
  if (!split.ok) return broken(split.line, split.reason);
  let read = readYaml(split.yaml);
  if (!read.ok && origin.flavour === 'claude') {
    const again = readYaml(quoteColons(split.yaml));
    if (again.ok) read = again;
  }
  if (!read.ok) {
    if (isShared && !/^kind[ \t]*:/im.test(split.yaml)) return { ok: false, problem: null };
    return broken(read.line, read.reason);
  }
  if (isShared && !read.fields.some(({ name }) => wordOf(name) === 'kind')) return { ok: false, problem: null };
  return define(read.fields, split.body, origin, broken);
}

function define(
  fields: Field[],
  body: string,
  origin: Origin,
  broken: (line: number, reason: string, id?: string) => Parsed,
): Parsed {
  const named = fields.find(({ name }) => wordOf(name) === 'name');
  let id: string;
  try {
    id = checkName(
      typeof named?.value === 'string' && named.value.trim() !== '' ? named.value.trim() : stemOf(origin.path),
    );
  } catch (error) {
    if (!(error instanceof WrongValue)) throw error;
    return broken(named?.line ?? 1, `${named === undefined ? 'the file’s name' : '`name`'} ${error.message}`);
  }
  const file = emptyFile(id, body, origin);
  const seen = new Set<string>();
  for (const field of fields) {
    const word = fieldWord(field.name);
    if (seen.has(word)) return broken(field.line, `${quoted(field.name)} is given twice`, id);
    seen.add(word);
    try {
      if (isKnown(word)) applyField(word, field, file);
      else if (!isIgnored(word, origin.flavour === 'claude')) file.notices.push(unknownField(field, file));
    } catch (error) {
      if (!(error instanceof WrongValue)) throw error;
      return broken(field.line, `\`${field.name}\` ${error.message}`, id);
    }
  }
  return { ok: true, file: complete(file, origin) };
}

function emptyFile(id: string, prompt: string, { layer, path, sha256, flavour }: Origin): DefinitionFile {
  const definition: Definition = {
    id,
    name: id,
    description: '',
    kind: 'main',
    class: 'persistent',
    role: null,
    provider: null,
    model: null,
    mode: null,
    interaction: null,
    // In Claude, an agent that names no tools gets all of its caller's.
    tools: flavour === 'claude' ? ['*'] : readOnlyTools,
    deniedTools: [],
    toolGate: 'hard',
    access: null,
    policy: { allow: [], delegateTargets: [] },
    workGlobs: [],
    lockGlobs: [],
    nudge: null,
    mail: 'wake',
    notify: ['parent'],
    hears: [],
    prompt,
    sources: [{ layer, path }],
  };
  return { layer, path, sha256, definition, stated: {}, notices: [] };
}

/** Fills in values that follow from other fields. */
function complete(file: DefinitionFile, { flavour }: Origin): DefinitionFile {
  const { definition, stated } = file;
  if (flavour === 'claude') {
    if (definition.kind === 'main' && stated.kind !== undefined) file.notices.push(alwaysSubagent(file, stated.kind));
    definition.kind = 'subagent';
    // The kind follows from the location, not from the file: it must not turn a main of another layer into a subagent.
    delete stated.kind;
  }
  if (stated.class === undefined) definition.class = definition.kind === 'main' ? 'persistent' : 'ephemeral';
  return file;
}

function unknownField({ name, line }: Field, { path, definition: { id } }: DefinitionFile): Notice {
  return { about: 'unknown-field', path, line, reason: `there is no field ${quoted(name)}; it is ignored`, id };
}

function alwaysSubagent({ path, definition: { id } }: DefinitionFile, line: number): Notice {
  const reason = 'files of .claude/agents are always subagents; move it to .pawl/agents to make it a main';
  return { about: 'unknown-field', path, line, reason, id };
}

function stemOf(path: string): string {
  return (path.split('/').at(-1) ?? path).replace(/\.md$/, '').toLowerCase();
}
