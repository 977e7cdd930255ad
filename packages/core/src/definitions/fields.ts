import { accessLevels } from '@pawl/schema/access-level';
import type { Definition } from '@pawl/schema/definition';
import { agentClasses, agentKinds, hearings, interactions, mailPolicies } from '@pawl/schema/definition';
import type { DefinitionFile, StatedField } from './definition-file.ts';
import type { Field } from './front-matter.ts';
import {
  readChoice,
  readInheritable,
  readList,
  readName,
  readPolicy,
  readSwitchable,
  readText,
  wordOf,
} from './field-value.ts';
import { normalTools } from './tool-name.ts';

/** Fields of Claude's agent files that have no meaning here. */
const claudeFields = [
  'permissionmode',
  'maxturns',
  'skills',
  'mcpservers',
  'hooks',
  'isolation',
  'color',
  'memory',
].concat(['background', 'effort', 'initialprompt']);

type Reader = (file: DefinitionFile, field: Field) => void;

const readMode = state('mode', readName);
const readInteraction = state('interaction', (value) => readChoice(value, interactions));

/** Readers of all known fields, by normalised name. */
const readers = new Map<string, Reader>([
  ['name', state('name', readText)],
  ['description', state('description', readText)],
  ['kind', state('kind', (value) => readChoice(value, agentKinds))],
  ['class', state('class', (value) => readChoice(value, agentClasses))],
  ['role', state('role', readName)],
  ['provider', state('provider', readName)],
  ['model', state('model', readInheritable)],
  ['mode', stateMode],
  ['interaction', readInteraction],
  ['tools', state('tools', (value) => normalTools(readList(value)))],
  ['disallowedtools', state('deniedTools', (value) => normalTools(readList(value)))],
  ['toolgate', state('toolGate', (value) => readChoice(value, ['hard', 'advisory']))],
  ['access', state('access', (value) => readChoice(value, accessLevels))],
  ['workglobs', state('workGlobs', readList)],
  ['defaultlockglobs', state('lockGlobs', readList)],
  ['nudge', stateNudge],
  ['mail', state('mail', (value) => readChoice(value, mailPolicies))],
  ['notify', state('notify', readList)],
  ['hears', state('hears', (value) => readList(value)?.map((word) => readChoice(word, hearings) ?? 'changes') ?? null)],
  ['policy', statePolicy],
]);

/** Normalises a field name, including synonyms. */
export function fieldWord(name: string): string {
  const word = wordOf(name);
  return word === 'deniedtools' ? 'disallowedtools' : word;
}

export function isKnown(word: string): boolean {
  return readers.has(word);
}

/** Whether a field is legitimate although nothing reads it. */
export function isIgnored(word: string, isClaude: boolean): boolean {
  return isClaude && claudeFields.includes(word);
}

/** Checks a field's value and writes it into the file's definition. Throws `WrongValue`. */
export function applyField(word: string, field: Field, file: DefinitionFile): void {
  readers.get(word)?.(file, field);
}

/** Reads a field of the same name; an empty value states nothing. */
function state<Name extends Exclude<StatedField, 'policy.allow' | 'policy.delegateTargets'>>(
  name: Name,
  read: (value: unknown) => Definition[Name] | null,
): Reader {
  return (file, { value, line }) => {
    const known = read(value);
    if (known === null) return;
    file.definition[name] = known;
    file.stated[name] = line;
  };
}

/** `chat` and `auto` are no modes of a prompt: they say how the agent works. */
function stateMode(file: DefinitionFile, field: Field): void {
  const isInteraction = interactions.some((word) => word === field.value);
  (isInteraction ? readInteraction : readMode)(file, field);
}

/** An empty nudge is a statement, too: it removes the nudge of an earlier layer. */
function stateNudge(file: DefinitionFile, { value, line }: Field): void {
  file.definition.nudge = readSwitchable(value);
  file.stated.nudge = line;
}

function statePolicy(file: DefinitionFile, { value, line }: Field): void {
  const { allow, delegateTargets } = readPolicy(value);
  if (allow !== null) {
    file.definition.policy.allow = allow;
    file.stated['policy.allow'] = line;
  }
  if (delegateTargets !== null) {
    file.definition.policy.delegateTargets = delegateTargets;
    file.stated['policy.delegateTargets'] = line;
  }
}
