import { describe, expect, it } from 'vitest';
import { authorOf, modelAccess, parseModel } from '../../src/model/model-choice.ts';
import { withVersion } from '../../src/model/base-url.ts';

describe('parseModel', () => {
  it('takes vendor/model, and names that tell their vendor', () => {
    expect(parseModel('compatible/meta-llama/llama-4')).toEqual({ vendor: 'compatible', model: 'meta-llama/llama-4' });
    expect(parseModel('claude-sonnet-4-5').vendor).toBe('anthropic');
    expect(parseModel('gpt-5.1').vendor).toBe('openai');
    expect(parseModel('openai-chat/gpt-4.1').vendor).toBe('openai-chat');
    expect(authorOf(parseModel('gemini-2.5-pro'))).toBe('google/gemini-2.5-pro');
  });

  it('says how to choose a model if there is none', () => {
    expect(() => parseModel(' ')).toThrow(expect.objectContaining({ message: 'No model is chosen.' }) as Error);
  });

  it('refuses a model without a vendor', () => {
    for (const written of ['llama', 'openai/', 'toString/x']) expect(() => parseModel(written)).toThrow('unknown');
  });
});

describe('modelAccess', () => {
  const choice = parseModel('claude-sonnet-4-5');

  it("prefers the account's key and address to the vendor's variables", () => {
    const vendor = { ANTHROPIC_API_KEY: 'own', ANTHROPIC_BASE_URL: 'http://own' };
    expect(modelAccess(choice, vendor)).toEqual({ apiKey: 'own', baseUrl: 'http://own' });
    const account = { PAWL_ENGINE_API_KEY: 'account', PAWL_ENGINE_BASE_URL: 'http://account' };
    expect(modelAccess(choice, { ...vendor, ...account })).toEqual({ apiKey: 'account', baseUrl: 'http://account' });
  });

  it('refuses to call a vendor without a key, and a server without an address', () => {
    expect(() => modelAccess(choice, { OPENAI_API_KEY: 'other' })).toThrow('Invalid API key');
    expect(() => modelAccess(parseModel('compatible/llama'), {})).toThrow('address');
    expect(modelAccess(parseModel('compatible/llama'), { OPENAI_BASE_URL: 'http://x/v1' }).apiKey).toBe('');
  });
});

describe('withVersion', () => {
  it('adds the version of the API if it is missing', () => {
    expect(withVersion('http://host/s/work/', 'v1')).toEqual({ baseURL: 'http://host/s/work/v1' });
    expect(withVersion('http://host/v1beta', 'v1')).toEqual({ baseURL: 'http://host/v1beta' });
    expect(withVersion(undefined, 'v1')).toEqual({});
  });
});
