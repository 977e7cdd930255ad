import { duration } from '@pawl/present/amount';
import type { Cell } from '@pawl/present/table';
import { printableLine } from '@pawl/present/text';
import { span } from '@pawl/present/tone';
import { searchPathOf } from '@pawl/protocol/node/shell-environment';
import { PawlError } from '@pawl/schema/error';
import type { HomeConfig } from '@pawl/schema/home-config';
import { filledHomeConfig } from '@pawl/schema/home-config-keys';
import { modelServers, modelVendors } from '@pawl/schema/model/named-model';
import type { NamedModel } from '@pawl/schema/model/named-model';
import { refuseAgents } from '../../agent/person-only.ts';
import type { CommandContext } from '../../context.ts';
import { withDaemon } from '../../daemon/launch.ts';
import { readConfigDocument, valuesOf, writeConfigDocument } from '../../project/config-file.ts';
import { table } from '../../terminal/table.ts';

type ModelView = { name: string; isDefault: boolean } & NamedModel;

const columns = [
  { title: 'NAME' },
  { title: 'MODEL', flexible: true },
  { title: 'CONTEXT' },
  { title: '$/M IN/OUT' },
  { title: 'ACCOUNT' },
  { title: 'SERVER', flexible: true },
];

/** Lists the models that have a name, and the default. */
export async function listModels(context: CommandContext): Promise<number> {
  const { models, default_model: defaultModel } = configOf(context);
  const list = Object.entries(models).map(([name, model]): ModelView => ({
    name,
    isDefault: name === defaultModel,
    ...model,
  }));
  context.answer('models', { models: list, defaultModel, vendors: modelVendors, servers: modelServers }, () => {
    if (list.length === 0 && defaultModel === null) {
      return 'no models; add one with: pawl models add sonnet anthropic/claude-sonnet-4-5';
    }
    const rows = list.length === 0 ? [] : [table(columns, list.map(row), context.colours, context.columns)];
    const plain = defaultModel === null || list.some(({ isDefault }) => isDefault) ? [] : [`default: ${defaultModel}`];
    return [...rows, ...plain].join('\n');
  });
  return 0;
}

function row({ name, isDefault, model, account, base_url: server, context_tokens: size, ...rest }: ModelView): Cell[] {
  const price = rest.usd_per_million;
  return [
    span(isDefault ? `${name} *` : name, 'strong'),
    model,
    size === null ? '-' : String(size),
    price === null ? '-' : [price.input, price.output, price.cached].filter((usd) => usd !== undefined).join('/'),
    account ?? '-',
    server ?? '-',
  ];
}

export type AddModelOptions = {
  account?: string;
  server?: string;
  context?: number;
  price?: string;
  default?: boolean;
};

/** Gives a model a name, with its account or server. */
export async function addModel(
  context: CommandContext,
  name: string,
  model: string,
  options: AddModelOptions,
): Promise<number> {
  await refuseAgents(context.home, 'change the models');
  const entry = { model: modelOf(model, options), ...placeOf(options), ...sizesOf(options) };
  const document = readConfigDocument(context.home.config);
  document.setIn(['models', name], entry);
  if (options.default === true) document.setIn(['default_model'], name);
  writeConfigDocument(context.home.config, document);
  const added = configOf(context).models[name];
  context.answer('model', { name, ...added }, () => `added ${name}: ${entry.model}\ntest it: pawl models test ${name}`);
  return 0;
}

/** A server's model is called in the format of Chat Completions. */
function modelOf(model: string, { server }: AddModelOptions): string {
  const hasVendor = modelVendors.some((vendor) => model.startsWith(`${vendor}/`));
  return server === undefined || hasVendor ? model : `compatible/${model}`;
}

function placeOf({ account, server }: AddModelOptions): Partial<NamedModel> {
  if (server === undefined) return account === undefined ? {} : { account };
  const known = Object.hasOwn(modelServers, server) ? modelServers[server] : undefined;
  if (known?.needsKey === true && account === undefined) {
    throw new PawlError('usage', `${server} needs a key.`, {
      hint: `Add an account first: pawl account add pawl --name ${server} --key-stdin --base-url ${known.baseUrl}; then add the model with --account ${server}.`,
    });
  }
  if (account !== undefined) {
    throw new PawlError('usage', 'An account has the address of its server already.', {
      hint: 'Leave out --server, or leave out --account for a server without a key.',
    });
  }
  const address = known?.baseUrl ?? server;
  if (/^https?:\/\//.test(address)) return { base_url: address };
  throw new PawlError('usage', `The server ${JSON.stringify(server)} is unknown.`, {
    hint: `Name its address, or one of ${Object.keys(modelServers).join(', ')}.`,
  });
}

function sizesOf({ context, price }: AddModelOptions): Partial<NamedModel> {
  const size = context === undefined ? {} : { context_tokens: context };
  if (price === undefined) return size;
  const isPrice = /^\d+(?:\.\d+)?(?:\/\d+(?:\.\d+)?){1,2}$/.test(price);
  const [input, output, cached] = price.split('/').map(Number);
  if (!isPrice || input === undefined || output === undefined) {
    throw new PawlError('usage', `${JSON.stringify(price)} is no price.`, {
      hint: 'Write dollars for a million tokens in and out, as in 3/15; a third number is for cached input: 3/15/0.3.',
    });
  }
  return { ...size, usd_per_million: { input, output, ...(cached === undefined ? {} : { cached }) } };
}

/** Removes a name; a model that runs is not affected. */
export async function removeModel(context: CommandContext, name: string): Promise<number> {
  await refuseAgents(context.home, 'change the models');
  const { models, default_model: defaultModel } = configOf(context);
  if (!Object.hasOwn(models, name)) throw unknownModel(name);
  const document = readConfigDocument(context.home.config);
  document.deleteIn(['models', name]);
  if (defaultModel === name) document.deleteIn(['default_model']);
  writeConfigDocument(context.home.config, document);
  context.answer('model', { name, ...models[name] }, () => `removed ${name}`);
  return 0;
}

/** Chooses the model of agents that name none. */
export async function defaultModel(context: CommandContext, name: string): Promise<number> {
  await refuseAgents(context.home, 'change the models');
  if (!name.includes('/') && !Object.hasOwn(configOf(context).models, name)) throw unknownModel(name);
  const document = readConfigDocument(context.home.config);
  document.setIn(['default_model'], name);
  writeConfigDocument(context.home.config, document);
  context.answer('model', { name, isDefault: true }, () => `agents of the provider pawl use ${name} by default`);
  return 0;
}

/** Asks a model for one word. */
export async function testModel(
  context: CommandContext,
  model: string,
  { account }: { account?: string },
): Promise<number> {
  context.say('asking the model for one word');
  const body = { model, ...searchPathOf(process.env), ...(account === undefined ? {} : { account }) };
  const answer = await withDaemon(context.home, (client) => client.testModel(body));
  const { ok, text, tookMs } = answer;
  context.answer('model-test', answer, () => {
    const verdict = ok ? context.colours.green('works') : context.colours.red('does not work');
    return `${model} ${verdict} (${duration(tookMs)}): ${printableLine(text)}`;
  });
  return ok ? 0 : 1;
}

function unknownModel(name: string): PawlError {
  return new PawlError('not_found', `There is no model ${JSON.stringify(name)}.`, { hint: 'See `pawl models`.' });
}

function configOf(context: CommandContext): HomeConfig {
  return filledHomeConfig(valuesOf(readConfigDocument(context.home.config))) as HomeConfig;
}
