import type { Json } from './json.ts';

const names = ['scripted-1', 'claude-sonnet-4-5', 'gpt-5.1-codex', 'gemini-2.5-pro'];
const since = 1_700_000_000;

/** The listed models; any name works. Combines Anthropic's and OpenAI's fields. */
export function modelList(forGemini: boolean): Json {
  if (forGemini) {
    return {
      models: names.map((name) => ({
        name: `models/${name}`,
        displayName: name,
        inputTokenLimit: 1_000_000,
        outputTokenLimit: 64_000,
        supportedGenerationMethods: ['generateContent', 'streamGenerateContent', 'countTokens'],
      })),
    };
  }
  const data = names.map((id) => ({
    id,
    object: 'model',
    created: since,
    owned_by: 'scripted',
    type: 'model',
    display_name: id,
    created_at: new Date(since * 1_000).toISOString(),
  }));
  return { object: 'list', data, has_more: false, first_id: names[0], last_id: names.at(-1) };
}
