import { printableLine } from '@pawl/present/text';
import { searchPathOf } from '@pawl/protocol/node/shell-environment';
import { PawlError } from '@pawl/schema/error';
import { liveConfigKeys } from '@pawl/schema/home-config';
import { filledHomeConfig, homeConfigKeys, homeConfigProblem } from '@pawl/schema/home-config-keys';
import type { Document } from 'yaml';
import { commandClient } from '../../daemon/client.ts';
import {
  checkKey,
  readConfigDocument,
  setKey,
  unsetKey,
  valuesOf,
  writeConfigDocument,
} from '../../project/config-file.ts';
import type { CommandContext } from '../../context.ts';
import { answers } from '../../daemon/launch.ts';
import { refuseAgents } from '../../agent/person-only.ts';
import { warnIfMissing } from '../../agent/provider-missing.ts';
import { table } from '../../terminal/table.ts';

type Setting = { key: string; value: unknown; isSet: boolean };
/** When a change takes effect: at once, after a restart of the running daemon, or at the next start. */
type Applies = 'now' | 'restart' | 'next-start';

/** Lists every key with its value, and whether it is a default. */
export async function listConfig(context: CommandContext): Promise<number> {
  const settings = settingsOf(context, homeConfigKeys());
  context.answer('config', { file: context.home.config, settings }, () =>
    table(
      [{ title: 'KEY' }, { title: 'VALUE', flexible: true }, { title: 'FROM' }],
      settings.map(({ key, value, isSet }) => [key, shown(value), isSet ? 'config.yaml' : 'default']),
      context.colours,
      context.columns,
    ),
  );
  return 0;
}

/** Prints the value of one key. */
export async function getConfig(context: CommandContext, key: string): Promise<number> {
  checkKey(key);
  const [setting] = settingsOf(context, [key]);
  context.answer('config-value', setting, () => shown(setting?.value));
  return 0;
}

/** Sets a key in config.yaml; comments and order stay. */
export async function setConfig(context: CommandContext, key: string, text: string): Promise<number> {
  await refuseAgents(context.home, 'change the settings of the home');
  if (text.trim() === '') {
    checkKey(key);
    throw new PawlError('usage', `The value of ${key} is empty.`, {
      hint: `To restore its default: pawl config unset ${key}`,
    });
  }
  const document = readConfigDocument(context.home.config);
  setKey(document, key, text);
  const isUp = await answers(context.home);
  if (key === 'provider') await checkProvider(context, document, isUp);
  writeConfigDocument(context.home.config, document);
  return tell(context, key, isUp);
}

/** Removes a key from config.yaml, so that its default applies. */
export async function unsetConfig(context: CommandContext, key: string): Promise<number> {
  await refuseAgents(context.home, 'change the settings of the home');
  const document = readConfigDocument(context.home.config);
  // An unknown key may be in the file by mistake; then it can be removed.
  if (!unsetKey(document, key)) {
    checkKey(key);
    return tell(context, key, await answers(context.home));
  }
  writeConfigDocument(context.home.config, document);
  return tell(context, key, await answers(context.home));
}

function tell(context: CommandContext, key: string, isUp: boolean): number {
  const [setting] = settingsOf(context, [key]);
  const applies: Applies = !isUp ? 'next-start' : liveConfigKeys.includes(key) ? 'now' : 'restart';
  const words = {
    now: 'it applies from now on',
    restart: 'it applies after a restart: pawl down && pawl up',
    'next-start': 'it applies when Pawl is started',
  };
  context.answer('config-value', { ...setting, applies }, () => {
    const value = setting?.value ?? null;
    const what = setting?.isSet === true ? 'is' : value === null ? 'is not set' : 'has its default:';
    return `${context.colours.bold(key)} ${what}${value === null ? '' : ` ${shown(value)}`}; ${words[applies]}`;
  });
  return 0;
}

function settingsOf({ home }: CommandContext, keys: readonly string[]): Setting[] {
  const document = readConfigDocument(home.config);
  const values = valuesOf(document);
  const problem = homeConfigProblem(values);
  if (problem !== null) {
    throw new PawlError('invalid_input', `${home.config} is invalid: ${problem}`, {
      hint: 'Fix it with `pawl config set` or `pawl config unset`, or by hand.',
    });
  }
  const filled = filledHomeConfig(values);
  return keys.map((key) => ({ key, value: at(filled, key), isSet: document.hasIn(key.split('.')) }));
}

function at(value: unknown, key: string): unknown {
  return key
    .split('.')
    .reduce<unknown>(
      (inner, name) =>
        typeof inner === 'object' && inner !== null && Object.hasOwn(inner, name)
          ? (inner as Record<string, unknown>)[name]
          : null,
      value,
    );
}

/** Refuses a provider that neither the running daemon nor the file knows. */
async function checkProvider(context: CommandContext, document: Document, isUp: boolean): Promise<void> {
  const { home } = context;
  const provider = document.get('provider');
  if (!isUp || typeof provider !== 'string' || document.hasIn(['providers', provider])) return;
  const { providers } = await commandClient(home).listProviders(searchPathOf(process.env));
  const known = providers.find(({ name }) => name === provider);
  if (known !== undefined) return warnIfMissing(context, known);
  throw new PawlError('unknown_provider', `There is no provider ${JSON.stringify(provider.slice(0, 80))}.`, {
    hint: `Known providers: ${providers.map(({ name }) => name).join(', ')}.`,
  });
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return '-';
  return printableLine(typeof value === 'string' ? value : JSON.stringify(value));
}
