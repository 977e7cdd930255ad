import { PawlError } from '@pawl/schema/error';
import { modelVendors } from '@pawl/schema/model/named-model';

/** The formats of requests that the engine writes; each has its own bundle file. */
export const vendors = modelVendors;
export type Vendor = (typeof vendors)[number];

export type ModelChoice = { vendor: Vendor; model: string };

/** The address and credentials for calls of a model. */
export type ModelAccess = { apiKey: string; baseUrl: string | undefined };

const families: [RegExp, Vendor][] = [
  [/^claude/i, 'anthropic'],
  [/^(?:gpt|o\d|codex|chatgpt)/i, 'openai'],
  [/^gemini/i, 'google'],
];

/** Parses `vendor/model`, or a model whose name tells its vendor. A model's own name may have slashes. */
export function parseModel(written: string): ModelChoice {
  if (written.trim() === '') {
    throw new PawlError('usage', 'No model is chosen.', {
      hint: 'Name one with --model VENDOR/MODEL, or choose a default: pawl models default VENDOR/MODEL',
    });
  }
  const slash = written.indexOf('/');
  const vendor = vendors.find((name) => name === written.slice(0, Math.max(0, slash)));
  const model = vendor === undefined ? written : written.slice(slash + 1);
  const family = vendor ?? families.find(([pattern]) => pattern.test(written))?.[1];
  if (family === undefined || model.trim() === '') {
    throw new PawlError('usage', `The vendor of the model ${JSON.stringify(written.slice(0, 80))} is unknown.`, {
      hint: `Write it as VENDOR/MODEL, where VENDOR is one of ${vendors.join(', ')}.`,
    });
  }
  return { vendor: family, model };
}

/** The author that messages of a model name. */
export function authorOf({ vendor, model }: ModelChoice): string {
  return `${vendor}/${model}`;
}

type VendorVariables = { keys: string[]; baseUrl: string };

const variables: Record<Vendor, VendorVariables> = {
  anthropic: { keys: ['ANTHROPIC_API_KEY'], baseUrl: 'ANTHROPIC_BASE_URL' },
  openai: { keys: ['OPENAI_API_KEY'], baseUrl: 'OPENAI_BASE_URL' },
  'openai-chat': { keys: ['OPENAI_API_KEY'], baseUrl: 'OPENAI_BASE_URL' },
  google: { keys: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'], baseUrl: 'GOOGLE_GEMINI_BASE_URL' },
  compatible: { keys: ['OPENAI_API_KEY'], baseUrl: 'OPENAI_BASE_URL' },
};

/** The key and address of an account, for any vendor. They come before the vendor's own variables. */
const accountVariables = { key: 'PAWL_ENGINE_API_KEY', baseUrl: 'PAWL_ENGINE_BASE_URL' } as const;

/** Variables with keys, which commands of the model do not get. */
export const secretVariables: ReadonlySet<string> = new Set([
  accountVariables.key,
  ...Object.values(variables).flatMap(({ keys }) => keys),
]);

/** Finds key and address in the environment. Only a server of one's own may do without a key. */
export function modelAccess({ vendor, model }: ModelChoice, env: Record<string, string | undefined>): ModelAccess {
  const known = variables[vendor];
  const found = [accountVariables.key, ...known.keys].map((name) => env[name]).find((key) => key);
  const baseUrl = env[accountVariables.baseUrl] || env[known.baseUrl] || undefined;
  if (found === undefined && vendor !== 'compatible') {
    throw new PawlError('unauthorized', `Invalid API key: there is no key for ${vendor}.`, {
      hint: `Add one with \`pawl account add pawl --key-stdin\`, or set ${known.keys[0]}.`,
    });
  }
  if (vendor === 'compatible' && baseUrl === undefined) {
    throw new PawlError('usage', 'An OpenAI-compatible model needs the address of its server.', {
      hint: `Add it with its server: pawl models add NAME ${model} --server ollama; or set ${accountVariables.baseUrl}, for example to http://127.0.0.1:11434/v1.`,
    });
  }
  return { apiKey: found ?? '', baseUrl };
}
