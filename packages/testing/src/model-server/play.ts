import type { Conversation, Standing } from './conversation.ts';
import type { Json } from './json.ts';
import { fillSafe, fillSpoken } from './placeholder.ts';
import { pollFor } from './poll.ts';
import type { Answer, Fault, Part, Reply } from './reply.ts';
import { fillSchema } from './schema-fill.ts';
import type { ErrorStep, Scenario, Step } from './step.ts';
import type { ToolCall } from './tool-choice.ts';
import { mcpCall, namedCall, replaceCommand, shellCall, writeCall } from './tool-choice.ts';

export type Playing = {
  conversation: Conversation;
  standing: Standing;
  scenario: Scenario;
  key: string;
  /** The id of the request, from which call ids are derived. */
  id: string;
  nowSeconds: number;
  /** The end of every text, with placeholders. */
  signature: string;
};

/** Default tokens of an answer. */
const plainUsage = { input: 1_500, output: 42, cached: 300 };

/** Default duration of a limit. */
const plainResetSeconds = 3_600;

/** The scenario's answer at this position: deterministic. */
export function play(playing: Playing): Reply {
  const { conversation, standing, scenario } = playing;
  const waiting = pollFor(standing.result);
  if (waiting !== null && conversation.tools.some(({ name }) => name === waiting.name)) {
    return answerOf([{ tool: waiting }], playing);
  }
  const steps = standing.userTurns > 1 ? (scenario.followUp ?? scenario.steps) : scenario.steps;
  const answers = answersIn(steps.filter((step) => isThere(step, playing)));
  const index = scenario.repeat === true ? standing.answers % Math.max(1, answers.length) : standing.answers;
  const chosen = answers[index] ?? [{ say: 'There is nothing left to do.' }];
  for (const step of chosen) {
    if ('error' in step) return faultOf(step, playing.nowSeconds);
    if ('hang' in step) return { kind: 'hang' };
  }
  const answer = answerOf(chosen, playing);
  // Without tools, a client wants a title, a summary or a health check, not work.
  if (conversation.answerSchema !== null && conversation.tools.length === 0) {
    answer.parts = [{ kind: 'text', text: JSON.stringify(fillSchema(conversation.answerSchema)) }];
  }
  return answer;
}

/** False for a failure meant for other keys, or for another time. */
function isThere(step: Step, { key, nowSeconds }: Playing): boolean {
  if (!('error' in step)) return true;
  if (step.key !== undefined && !key.includes(step.key)) return false;
  return step.until === undefined || nowSeconds < step.until;
}

/** The steps of each answer: a tool call, a failure or the end of the list ends one. */
function answersIn(steps: Step[]): Step[][] {
  const answers: Step[][] = [];
  let current: Step[] = [];
  for (const step of steps) {
    current.push(step);
    if ('say' in step || 'think' in step || 'slow' in step || 'usage' in step) continue;
    answers.push(current);
    current = [];
  }
  if (current.length > 0) answers.push(current);
  return answers;
}

function faultOf(step: ErrorStep, nowSeconds: number): Fault {
  const tells = step.error === 'limit-reset';
  const resetsAt = step.until ?? nowSeconds + (step.resetsInSeconds ?? plainResetSeconds);
  return {
    kind: 'fault',
    error: step.error,
    resetsAt: tells ? resetsAt : null,
    resetsInSeconds: tells ? Math.max(0, resetsAt - nowSeconds) : null,
  };
}

function answerOf(steps: Step[], playing: Playing): Answer {
  const { standing, signature, conversation } = playing;
  const answer: Answer = { kind: 'answer', parts: [], usage: plainUsage, chunkMs: 0, ending: 'whole' };
  for (const step of steps) {
    if ('slow' in step) answer.chunkMs = step.slow.ms;
    else if ('usage' in step) answer.usage = step.usage;
    else if ('cut' in step) answer.ending = 'cut';
    else if ('malformed' in step) answer.ending = 'malformed';
    else if ('think' in step) {
      if (conversation.thinking) answer.parts.push({ kind: 'thinking', text: fillSpoken(step.think, standing) });
    } else if ('say' in step) answer.parts.push({ kind: 'text', text: fillSpoken(step.say, standing) });
    else if ('tools' in step) {
      const calls = step.tools.map((tool, index) => callPart({ tool }, { ...playing, id: `${playing.id}_${index}` }));
      answer.parts.push(...calls);
    } else answer.parts.push(callPart(step, playing));
  }
  if (!answer.parts.some((part) => part.kind !== 'thinking')) answer.parts.push({ kind: 'text', text: '…' });
  const spoken = answer.parts.findLast((part) => part.kind === 'text');
  if (spoken !== undefined && signature !== '') spoken.text += `\n\n${fillSpoken(signature, standing)}`;
  return answer;
}

/** The call for a step that needs a tool, or a text if the client offers none. */
function callPart(step: Step, { conversation, standing, id }: Playing): Part {
  const { tools } = conversation;
  if (tools.length === 0) return { kind: 'text', text: 'A short scripted answer.' };
  const call = callOf(step, conversation, standing);
  if (call === null) {
    const offered = tools.map(({ name }) => name).join(', ');
    return { kind: 'text', text: `No offered tool can do ${JSON.stringify(step)}. Offered are: ${offered}` };
  }
  const { name, namespace, script } = call.tool;
  return {
    kind: 'call',
    id: `call_${id}`,
    name,
    input: call.input,
    ...(namespace === undefined ? {} : { namespace }),
    ...(script === undefined ? {} : { script }),
  };
}

function callOf(step: Step, { tools, directory }: Conversation, standing: Standing): ToolCall | null {
  if ('shell' in step) return shellCall(tools, fillSafe(step.shell, standing));
  if ('write' in step) {
    const { path, content } = step.write;
    return writeCall(tools, { path: fillSafe(path, standing), content: fillSafe(content, standing) }, directory);
  }
  if ('signal' in step) {
    const content = fillSafe(JSON.stringify(step.signal), standing);
    return shellCall(tools, replaceCommand('.pawl/output/signal.json', content));
  }
  if ('tool' in step) return namedCall(tools, step.tool.name, filled(step.tool.input, standing));
  if ('mcp' in step) return mcpCall(tools, step.mcp === true ? {} : filled(step.mcp, standing));
  return null;
}

/** The input of a tool with the placeholders of its texts filled. */
function filled(input: Json, standing: Standing): Json {
  const entries = Object.entries(input).map(([name, value]): [string, unknown] => [
    name,
    typeof value === 'string' ? fillSafe(value, standing) : value,
  ]);
  return Object.fromEntries(entries);
}
