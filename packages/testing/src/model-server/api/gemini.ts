import type { Conversation, Entry } from '../conversation.ts';
import { addToAnswer, addUserText, directoryIn } from '../conversation.ts';
import type { Json } from '../json.ts';
import { contentText, listOf, objectOf, textOf } from '../json.ts';
import { piecesOf } from '../pieces.ts';
import type { Answer, Fault, Frame, Part, Usage, WireFault, Writing } from '../reply.ts';
import type { Api } from './api.ts';

/** Google's Gemini API. Model and streaming are in its URL, so the server adds them to the parsed request. */
export const gemini: Api = { name: 'gemini', read, answer, stream, fault };

function read(body: Json): Conversation {
  const entries: Entry[] = [];
  const contents = listOf(body['contents']).map(objectOf);
  for (const content of contents) readContent(entries, content);
  const config = objectOf(body['generationConfig']);
  const schema = config['responseJsonSchema'] ?? config['responseSchema'];
  const instruction = contentText(objectOf(body['systemInstruction'])['parts']);
  return {
    model: '',
    stream: false,
    entries,
    tools: listOf(body['tools'])
      .flatMap((tool) => listOf(objectOf(tool)['functionDeclarations']).map(objectOf))
      .map((tool) => ({
        name: textOf(tool['name']),
        schema: objectOf(tool['parametersJsonSchema'] ?? tool['parameters']),
      })),
    answerSchema: schema === undefined ? null : objectOf(schema),
    thinking: objectOf(config['thinkingConfig'])['includeThoughts'] === true,
    directory: directoryIn(instruction, ...contents.slice(0, 3).map((content) => contentText(content['parts']))),
  };
}

function readContent(entries: Entry[], content: Json): void {
  const parts = listOf(content['parts']).map(objectOf);
  const spoken = contentText(parts.filter((part) => part['thought'] !== true));
  if (content['role'] === 'model') {
    const calls = parts
      .filter((part) => 'functionCall' in part)
      .map((part) => objectOf(part['functionCall']))
      .map((call) => ({ name: textOf(call['name']), input: objectOf(call['args']) }));
    addToAnswer(entries, spoken, calls);
    return;
  }
  for (const part of parts) {
    if (!('functionResponse' in part)) continue;
    const response = objectOf(objectOf(part['functionResponse'])['response']);
    entries.push({ role: 'tool', text: textOf(response['output']) || JSON.stringify(response) });
  }
  addUserText(entries, spoken);
}

function partOf(part: Part): Json {
  if (part.kind === 'text') return { text: part.text };
  if (part.kind === 'thinking') return { text: part.text, thought: true };
  return { functionCall: { id: part.id, name: part.name, args: part.input } };
}

function usageOf({ input, output, cached }: Usage): Json {
  return {
    promptTokenCount: input,
    candidatesTokenCount: output,
    totalTokenCount: input + output,
    cachedContentTokenCount: cached,
  };
}

function chunk(parts: Json[], finished: boolean, usage: Usage, { id, model }: Writing): Json {
  const content = { role: 'model', parts };
  return {
    candidates: [{ content, index: 0, ...(finished ? { finishReason: 'STOP' } : {}) }],
    usageMetadata: usageOf(finished ? usage : { ...usage, output: 0 }),
    modelVersion: model,
    responseId: id,
  };
}

function answer({ parts, usage }: Answer, writing: Writing): Json {
  return chunk(parts.map(partOf), true, usage, writing);
}

function stream({ parts, usage }: Answer, writing: Writing): Frame[] {
  const pieces = parts.flatMap((part) =>
    part.kind === 'call' ? [partOf(part)] : piecesOf(part.text).map((text) => partOf({ ...part, text })),
  );
  const last = pieces.length - 1;
  if (last < 0) return [{ data: chunk([{ text: '' }], true, usage, writing) }];
  return pieces.map((piece, index) => ({ data: chunk([piece], index === last, usage, writing) }));
}

const prefix = 'type.googleapis.com/google.rpc.';

const faults: Record<Fault['error'], [code: number, status: string, message: string]> = {
  limit: [429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota, please check your plan and billing details.'],
  'limit-reset': [
    429,
    'RESOURCE_EXHAUSTED',
    'You exceeded your current quota, please check your plan and billing details.',
  ],
  quota: [429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota, please check your plan and billing details.'],
  overload: [503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.'],
  auth: [400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.'],
  'bad-request': [400, 'INVALID_ARGUMENT', 'Request contains an invalid argument.'],
  context: [
    400,
    'INVALID_ARGUMENT',
    'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
  ],
  'server-error': [500, 'INTERNAL', 'An internal error has occurred. Please retry.'],
};

function fault(fault: Fault): WireFault {
  const [code, status, message] = faults[fault.error];
  const again = fault.resetsInSeconds === null ? '' : ` Please retry in ${fault.resetsInSeconds}s.`;
  const details = detailsOf(fault);
  return {
    status: code,
    body: {
      error: {
        code,
        message: fault.message ?? `${message}${again}`,
        status,
        ...(details.length > 0 ? { details } : {}),
      },
    },
  };
}

function detailsOf({ error, resetsInSeconds }: Fault): Json[] {
  if (error === 'auth') {
    const metadata = { service: 'generativelanguage.googleapis.com' };
    return [{ '@type': `${prefix}ErrorInfo`, reason: 'API_KEY_INVALID', domain: 'googleapis.com', metadata }];
  }
  if (error !== 'limit' && error !== 'limit-reset' && error !== 'quota') return [];
  const violation = {
    quotaMetric: 'generativelanguage.googleapis.com/generate_content_free_tier_requests',
    quotaId: 'GenerateRequestsPerDayPerProjectPerModel-FreeTier',
    quotaDimensions: { location: 'global' },
    quotaValue: '50',
  };
  const retry = { '@type': `${prefix}RetryInfo`, retryDelay: `${resetsInSeconds}s` };
  return [{ '@type': `${prefix}QuotaFailure`, violations: [violation] }, ...(resetsInSeconds === null ? [] : [retry])];
}
